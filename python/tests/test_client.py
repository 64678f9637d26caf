"""Where a client's token goes, and from where it is taken."""

import os
import pathlib
import tempfile
import unittest

import tandem


class Tokens(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.token = pathlib.Path(folder.name) / "token"
        self.token.write_text("secret\n")
        self.token.chmod(0o600)

    def test_a_token_is_never_sent_to_another_machine(self):
        for address in ("http://192.0.2.2:8470", "http://example.org", "http://127.0.0.1.example.org:1", "http://user@192.0.2.2:80"):
            with self.assertRaisesRegex(tandem.Error, "another machine"):
                tandem.connect(address, token_file=self.token)
        for address in ("http://127.0.0.1:8470", "http://localhost:8470", "http://[::1]:8470"):
            tandem.connect(address, token_file=self.token)

    def test_a_token_that_others_may_read_is_refused(self):
        os.chmod(self.token, 0o644)
        with self.assertRaisesRegex(tandem.Error, "others may read"):
            tandem.connect("http://127.0.0.1:8470", token_file=self.token)
