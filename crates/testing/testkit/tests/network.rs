//! A network that fails on demand: the bytes that arrive in each of its states, and the ends of
//! connections.
#![expect(clippy::unwrap_used, reason = "the helpers of a test may fail it")]

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;
use std::time::Duration;

use testkit::{FaultyNetwork, NetworkState};
use tokio::time::Instant;

/// Starts a server that returns every byte. It reports each of them, and the end of a
/// stream, up to 16 that the test has not received.
fn echo() -> (SocketAddr, Receiver<Option<u8>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (report, heard) = sync_channel(16);
    thread::spawn(move || {
        for mut stream in listener.incoming().map(Result::unwrap) {
            let report = report.clone();
            thread::spawn(move || {
                let mut byte = [0];
                while let Ok(1) = stream.read(&mut byte) {
                    report.try_send(Some(byte[0])).ok();
                    stream.write_all(&byte).ok();
                }
                report.try_send(None).ok();
            });
        }
    });
    (address, heard)
}

fn connect(network: &FaultyNetwork) -> TcpStream {
    TcpStream::connect(network.address()).unwrap()
}

fn send(stream: &mut TcpStream, byte: u8) {
    stream.write_all(&[byte]).unwrap();
}

/// Waits for the next byte.
fn receive(stream: &mut TcpStream) -> u8 {
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    byte[0]
}

/// Waits for the end of the connection.
fn end(stream: &mut TcpStream) -> Option<ErrorKind> {
    let read = stream.read_to_end(&mut Vec::new());
    read.err().map(|error| error.kind())
}

#[test]
fn a_network_that_is_up_passes_bytes_and_ends_of_streams_on() {
    let (server, _heard) = echo();
    let network = FaultyNetwork::before(server);
    let mut stream = connect(&network);
    let sent: Vec<u8> = (0..200_000).map(|number| number as u8).collect();
    let (mut sender, to_send) = (stream.try_clone().unwrap(), sent.clone());
    thread::spawn(move || {
        sender.write_all(&to_send).unwrap();
        sender.shutdown(Shutdown::Write).unwrap();
    });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).unwrap();
    assert!(received == sent, "{} bytes", received.len());
}

#[test]
fn a_network_that_is_down_resets_connections_and_refuses_others_until_it_is_up_again() {
    let (server, heard) = echo();
    let network = FaultyNetwork::before(server);
    for byte in 1..4 {
        let mut stream = connect(&network);
        send(&mut stream, byte);
        assert_eq!(receive(&mut stream), byte);
        assert_eq!(heard.recv().unwrap(), Some(byte));
        network.set(NetworkState::Down);
        assert_eq!(end(&mut stream), Some(ErrorKind::ConnectionReset));
        assert_eq!(
            heard.recv().unwrap(),
            None,
            "the server's side is reset too"
        );
        let refused = TcpStream::connect(network.address()).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        network.set(NetworkState::Up);
    }
}

#[tokio::test]
async fn a_stalled_network_delivers_what_was_sent_into_it_when_it_is_up_again() {
    let (server, heard) = echo();
    let network = FaultyNetwork::before(server);
    let mut old = connect(&network);
    send(&mut old, 1);
    assert_eq!(receive(&mut old), 1);
    assert_eq!(heard.recv().unwrap(), Some(1));
    network.set(NetworkState::Stalled);
    let mut new = connect(&network);
    send(&mut old, 2);
    send(&mut new, 3);
    old.shutdown(Shutdown::Write).unwrap();
    network.caught(2).await;
    assert_eq!(heard.try_iter().count(), 0);
    network.set(NetworkState::Up);
    assert_eq!(receive(&mut new), 3);
    assert_eq!(receive(&mut old), 2);
    assert_eq!(end(&mut old), None);
}

#[tokio::test]
async fn a_silent_network_loses_bytes_and_resets_their_connections_afterwards() {
    let (server, heard) = echo();
    let network = FaultyNetwork::before(server);
    let (mut idle, mut old) = (connect(&network), connect(&network));
    for stream in [&mut idle, &mut old] {
        send(stream, 1);
        assert_eq!(receive(stream), 1);
        assert_eq!(heard.recv().unwrap(), Some(1));
    }
    network.set(NetworkState::Silent);
    let mut new = connect(&network);
    send(&mut old, 2);
    new.shutdown(Shutdown::Write).unwrap();
    network.caught(2).await;
    network.set(NetworkState::Up);
    for stream in [&mut old, &mut new] {
        assert_eq!(end(stream), Some(ErrorKind::ConnectionReset));
    }
    send(&mut idle, 3);
    assert_eq!(receive(&mut idle), 3, "it lost nothing");
    let bytes: Vec<u8> = heard.try_iter().flatten().collect();
    assert_eq!(bytes, [3]);
}

#[tokio::test]
async fn bytes_that_a_stalled_network_holds_are_lost_if_it_turns_silent_and_die_with_it() {
    for state in [NetworkState::Silent, NetworkState::Down] {
        let (server, heard) = echo();
        let network = FaultyNetwork::before(server);
        network.set(NetworkState::Stalled);
        let mut stream = connect(&network);
        send(&mut stream, 1);
        network.caught(1).await;
        network.set(state);
        if state == NetworkState::Silent {
            network.caught(1).await;
        }
        network.set(NetworkState::Up);
        assert_eq!(end(&mut stream), Some(ErrorKind::ConnectionReset));
        assert_eq!(heard.try_iter().flatten().count(), 0, "{state:?}");
    }
}

#[test]
fn a_slow_network_delays_each_byte_there_and_back() {
    let (server, _heard) = echo();
    let network = FaultyNetwork::before(server);
    let mut stream = connect(&network);
    let delay = Duration::from_millis(20);
    network.set(NetworkState::Slow(delay));
    let begin = Instant::now();
    send(&mut stream, 1);
    assert_eq!(receive(&mut stream), 1);
    assert!(begin.elapsed() >= 2 * delay, "{:?}", begin.elapsed());
}

#[test]
fn a_client_of_a_server_that_is_gone_is_reset_and_the_network_goes_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let network = FaultyNetwork::before(listener.local_addr().unwrap());
    drop(listener);
    for _ in 0..2 {
        assert_eq!(
            end(&mut connect(&network)),
            Some(ErrorKind::ConnectionReset)
        );
    }
}

#[test]
fn a_dropped_network_ends_its_connections_and_frees_its_port() {
    let (server, _heard) = echo();
    let network = FaultyNetwork::before(server);
    let (mut stream, address) = (connect(&network), network.address());
    drop(network);
    end(&mut stream);
    // Its thread closes the connection and the port one after the other.
    while TcpStream::connect(address).is_ok() {
        thread::yield_now();
    }
}
