"""Talks to a language server as an editor does, and prints what it answers."""
import json
import subprocess
import sys

BAD = """func.func @f(%x: tensor<4xf32>) -> tensor<f32> {
  %y = graph.reduce add %x dims = [3] : tensor<4xf32> -> tensor<f32>
  return %y : tensor<f32>
}
"""
GOOD = """func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = graph.unary exp %x : tensor<4xf32>
  return %y : tensor<4xf32>
}
"""

server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL)


def send(method, params, number=None):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    text = json.dumps(message).encode()
    server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(text), text))
    server.stdin.flush()


def receive(wanted):
    """The next message that is wanted; others are passed over."""
    while True:
        length = 0
        while line := server.stdout.readline().strip():
            key, value = line.split(b": ")
            if key == b"Content-Length":
                length = int(value)
        if length == 0:
            sys.exit("the server ended")
        message = json.loads(server.stdout.read(length))
        if wanted(message):
            return message


def open_file(name, text):
    uri = f"file:///{name}"
    send("textDocument/didOpen", {"textDocument": {"uri": uri, "languageId": "mlir", "version": 1,
                                                   "text": text}})
    answer = receive(lambda m: m.get("method") == "textDocument/publishDiagnostics")
    found = answer["params"]["diagnostics"]
    for diagnostic in found:
        start = diagnostic["range"]["start"]
        print(f"{name}: {start['line'] + 1}:{start['character'] + 1}: {diagnostic['message']}")
    if not found:
        print(f"{name}: no diagnostics")
    return uri


send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, 1)
print("server:", receive(lambda m: m.get("id") == 1)["result"]["serverInfo"]["name"])
send("initialized", {})
open_file("bad.mlir", BAD)
uri = open_file("good.mlir", GOOD)
send("textDocument/hover", {"textDocument": {"uri": uri}, "position": {"line": 1, "character": 10}}, 2)
print("hover:", json.dumps(receive(lambda m: m.get("id") == 2)["result"]))
send("shutdown", None, 3)
receive(lambda m: m.get("id") == 3)
send("exit", None)
print("exit", server.wait(timeout=20))
