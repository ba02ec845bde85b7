"""What the tests of utils/ share: a small tree on disk and a way to run a script on it."""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class Tree:
    """A folder of files, removed at the end of the `with`."""

    def __init__(self, files):
        self.files = files

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name, text in self.files.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, script, *arguments):
        """(exit code, output) of utils/SCRIPT."""
        done = subprocess.run([sys.executable, "-B", str(ROOT / "utils" / script), *arguments],
                              capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr
