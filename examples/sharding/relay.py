"""A way to a server's socket that can lose what is sent along it."""

import os
import socket
import threading

NAME = ".s.PGSQL.5432"


class Relay:
    """Carries bytes both ways until it is told to lose those of one."""

    def __init__(self, directory, target):
        self.directory = directory
        self.target = target
        self.loses = None
        self.sockets = []

    def __enter__(self):
        self.directory.mkdir(parents=True)
        self.door = self.open(lambda s: s.bind(os.fspath(self.directory / NAME)))
        self.door.listen()
        threading.Thread(target=self.receive, daemon=True).start()
        return self

    def __exit__(self, *_):
        self.hang_up()

    def hang_up(self):
        for one in self.sockets:
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass  # it was never connected, or is no longer
            one.close()

    def open(self, how):
        one = socket.socket(socket.AF_UNIX)
        how(one)
        self.sockets.append(one)
        return one

    def receive(self):
        while True:
            try:
                client, _ = self.door.accept()
            except OSError:
                return
            self.sockets.append(client)
            server = self.open(lambda s: s.connect(os.fspath(self.target / NAME)))
            for words in (client, server, "request"), (server, client, "answer"):
                threading.Thread(target=self.carry, args=words, daemon=True).start()

    def carry(self, source, target, what):
        """The loss of one way breaks the connection; that of both does not, as nobody is there
        to break it."""
        try:
            while data := source.recv(65536):
                if self.loses == what:
                    break
                if self.loses != "all":
                    target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def lose(self, what):
        """request, answer or all"""
        self.loses = what
