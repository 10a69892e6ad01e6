"""Prints ports of 127.0.0.1 that are free: free_ports.py NUMBER."""
import pathlib
import random
import socket
import sys


def free_ports(number):
    """Returns ports that are free now and that the system gives to nobody: those below its own range."""
    own = pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range")
    end = int(own.read_text().split()[0]) if own.exists() else 32768
    found = set()
    while len(found) < number:
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", random.randrange(10000, max(end, 11000))))
            except OSError:
                continue
            found.add(s.getsockname()[1])
    return list(found)


if __name__ == "__main__":
    print(*free_ports(int(sys.argv[1])))
