# To be sourced: a server on loopback (the example `serve` of testkit, below $built), one at a time.

# start NAME OPTION…: starts it, with a record of its answers in $work/NAME.served. It ends with its
# standard input, and so with its parent. Sets port, seeds and resolve, the options by which a
# crawler finds its hosts.
start() {
    local name=$1 line
    shift
    coproc SERVER { exec "$built/examples/serve" --served "$work/$name.served" "$@"; }
    server=$SERVER_PID asking=${SERVER[1]} telling=${SERVER[0]}
    read -r port <&"$telling"
    seeds=() resolve=()
    while read -r line <&"$telling"; do
        case $line in
            "# ready") break ;;
            "# --resolve "*) resolve+=(--resolve "${line#\# --resolve }") ;;
            http*) seeds+=("$line") ;;
        esac
    done
}

# finish: ends it, after it has recorded its answers.
finish() {
    exec {asking}>&-
    wait "$server"
}
