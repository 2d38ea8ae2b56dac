# To be sourced: a server on loopback (the example `serve` of testkit, below $built), one at a time.

# start NAME OPTION…: begins it; what it answers goes to $work/NAME.served. It ends when its standard input does, and so with whoever
# started it. Sets port, seeds and resolve, the options by which a crawler finds its hosts.
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

# finish: has it end, and say what it answered.
finish() {
    exec {asking}>&-
    wait "$server"
}
