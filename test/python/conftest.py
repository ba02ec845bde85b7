"""What the tests of the package share. ctest names the folder of the build by PYTHONPATH."""
import os

# A test compiles what it runs, on the CPU where it names no device, whatever the user's configuration is.
os.environ.setdefault("ZYX_CACHE_DIR", "off")
os.environ.setdefault("ZYX_DEVICE", "cpu")
os.environ["XDG_CONFIG_HOME"] = "/nonexistent"
