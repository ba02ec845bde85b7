"""assemble.py PTXAS SCRATCH ARCHITECTURE... -- PROGRAM[:BYTES]...: compiles each program for each architecture and
assembles the PTX; fails where a kernel spills, or stores more than BYTES of a thread so, or contractions are
made to wait for each other (notes C75xx)."""
import re
import subprocess
import sys

ptxas, ptx, *rest = sys.argv[1:]
split = rest.index("--")
for architecture in rest[:split]:
    for word in rest[split + 1:]:
        program, _, most = word.partition(":")
        subprocess.run(["zyx-compile", program, f"--target={architecture}", "--stop-after=target", "-o", ptx], check=True)
        told = subprocess.run([ptxas, "-v", f"-arch={architecture}", ptx, "-o", "/dev/null"], check=True,
                              capture_output=True, text=True).stderr
        spills = re.findall(r"(\d+) bytes spill stores, (\d+) bytes spill loads", told)
        name = program.rsplit("/", 1)[-1]
        if not spills or "C75" in told or any(int(stored) > int(most or 0) for stored, _ in spills) or (
                not most and any(int(loaded) for _, loaded in spills)):
            sys.exit(f"{architecture} {name}: spills, or has notes\n{told}")
        print(f"{architecture} {name}: {len(spills)} kernels")
