#!/usr/bin/env python3
"""Makes surt.tsv: URLs and the keys that cdxj-indexer 1.5.0 gives them (surt 0.3.1). `pip install surt==0.3.1`; run it here."""

import random

import surt

PLAIN = """
http://example.com/
http://www.example.com/
http://WWW2.Example.com:443/A/?b=1&a
https://www.example.com:443/a//b/../c/
https://www.example.com:8443/
http://www.com/
http://www1234.a.com/
http://wwwx.a.com/
http://www.www.a.com/
http://user:pw@example.com/
http://user@example.com:80/
http://ex.com/%E4%BD%A0?q=%20a%2520b#f
http://ex.com/%25%32%35%2
http://ex.com/%%34%31%zz%
ftp://a.b/c
ftp://www.a.b:21/c/
dns:www.example.com
urn:X-wget:foo
URN:Some:Thing?x=B
mailto:Foo@example.com
urn:text:http://www.a.com/x
screenshot:http://www.a.com/
metadata://gnu.org/software/wget/warc/MANIFEST.txt
filedesc:foo
filedesc://a.arc
http://example.com?x
http://example.com?
http://example.com/?
http://example.com/??
http://example.com/a?
http://example.com/a/?&
http://example.com/a/?&&b&a
http://example.com/a?b&b=&b=1&B=0&a=%26
http://example.com/a?b=2&a=1#c
http://example.com#frag
http://example.com/#frag?no
http://3627734734/
http://1.2.3/
http://1.2.65535/
http://1.2.65536.1/
http://0177.0.0.1/
http://0300.0250.1.2/
http://127.0.0.1:8080/a
http://10.0.0.1/
http://01.02/
http://[::1]/
http://[2001:DB8::1]:8080/x
http://bücher.de/Ä
http://www.köln.example/straße?ä=Ü
http://例え.テスト/パス
http://straße.de/
http://xn--bcher-kva.de/
http://a_b.com./
http://.a..b.com/
http://a%2Eb.com/
http://A%42.com/
http://ex%20ample.com/
http://a.com:99999/
http://a.com:abc/
http://a.com:/
http://a.com:::/x
http://a.com:0/
http://a.com:080/
http://@/
http:///a.com/b
http://///a.com
http:/a.com/b
http:a.com/b
https:
http://
http://https://order.1and1.com/
http://http://http://a.com/x
example.com
example.com/path
example.com:80/path
//example.com/path
/path
?query
#fragment
http://a.com/a b c
http://a.com/back\slash
http://a.com/"<>^`{|}~[]@!$'()*+,;=:
http://a.com/?"<>^`{|}~[]@!$'()*+,;=:/?
http://a.com/a/./b/../../../c
http://a.com/..
http://a.com/../
http://a.com/a/.
http://a.com/a/b/..
http://a.com/a//../b
http://a.com/a///b////
http://a.com//
http://a.com/%2e%2e/x
http://a.com/a%2Fb%2f/
http://a.com/x%23y?z%23=%3f
http://a.com/%00%01%7f%80%ff
http://a.com/?%00=%80
http://a.com/INDEX.HTML;jsessionid=0123456789abcdef0123456789ABCDEF
http://a.com/?jsessionid=0123456789abcdef0123456789ABCDEF
http://a.com/?a=1&JSESSIONID=0123456789abcdef0123456789ABCDEF&b=2
http://a.com/?a=1&jsessionid=0123456789abcdef0123456789ABCDEF0
http://a.com/?PHPSESSID=0123456789abcdef0123456789abcdef&x=1
http://a.com/?xsid=0123456789abcdef0123456789abcdef&x=1
http://a.com/?sid=0123456789abcdef0123456789abcdef&sid=0123456789abcdef0123456789abcdeg
http://a.com/?sid=9682993c8daa2c5497996114facdc805&&x
http://a.com/?x=y&ASPSESSIONIDAQBSDSRT=EOHBLBDDPFCLHKPGGKLILNAM&z
http://a.com/?ASPSESSIONIDAQBSDSR1=EOHBLBDDPFCLHKPGGKLILNAM&z
http://a.com/?cfid=abc&cftoken=def&y=1
http://a.com/?y=1&CFID=417&CFTOKEN=55
http://a.com/?cfid=&cftoken=55
http://a.com/?cfid=1&cftoken=
http://a.com/(S(4hqa0555fwsecu455xqckv45))/mileg.aspx?page=1
http://a.com/(a(4hqa0555fwsecu455xqckv45)S(4hqa0555fwsecu455xqckv45)f(4hqa0555fwsecu455xqckv45))/mileg.aspx?page=sessionschedules
http://a.com/(4hqa0555fwsecu455xqckv45)/mileg.aspx
http://a.com/x/(4hqa0555fwsecu455xqckv45)/(4hqa0555fwsecu455xqckv45)/MileG.ASPX
http://a.com/(4hqa0555fwsecu455xqckv45)/mileg.html
http://a.com/(4hqa0555fwsecu455xqckv45)/.aspx
http://a.com/(S(4hqa0555fwsecu455xqckv4))/mileg.aspx
http://a.com/(4hqa0555fwsecu455xqckv45)/a%3Fb.aspx
http://www.archive.org/goo/?a=2&b&a=1&A=0
http://nonexistent.invalid/%
http://1.2.3.4.5/
http://9a.com/
http://0x7f.1/
http://0.0.0.0/
https://doc.rust-lang.org/std/?a=1&a=0&b
http://a.com/?id=0&Id=1
gopher://www.Gopher.example:70/0/a
a.b+c-d:rest
1http://a.com/
  http://a.com/  
   
whois://whois.iana.org/example.com
ws://www.a.com:80/chat
file:///etc/passwd
data:text/plain,Hello
javascript:alert(1)
""".strip("\n").split("\n")


def made(count):
    dice = random.Random(6)
    pieces = ["a", "B", "%41", "%2", "5", "%", "/", "//", ".", "..", "?", "&", "=", "#", ":", "@", "www.", "ü", "%C3%BC", "sid=",
              "0123456789abcdef0123456789abcdef", "+", " ", ";", "(", ")", "~", "[", "]", "80", "%2F", "%25", "\\\\"]
    for _ in range(count):
        url = dice.choice(["http://", "https://", "HTTP://", "ftp://", ""]) + dice.choice(["a.com", "www.b.org", "c", "9.8.7.6", ""]) + "".join(
            dice.choice(pieces) for _ in range(dice.randrange(12)))
        # Python's IDNA takes any character in a host; where such a one is not ASCII, ours does not make it punycode.
        if "xn--" not in key(url):
            yield url


def key(url):
    """As cdxj_indexer.main.CDXJIndexer.get_url_key: a URL that is refused is its own key."""
    try:
        return surt.surt(url)
    except Exception:
        return url


with open("surt.tsv", "w", encoding="utf-8", newline="\n") as out:
    out.write("# URL, tab, key: made by keys.py with surt 0.3.1\n")
    for url in [*PLAIN, *made(700)]:
        if url and not url.startswith("# "):
            out.write(f"{url}\t{key(url)}\n")
