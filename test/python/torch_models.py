"""Networks through torch.compile(backend="zyx") beside eager mode, with random weights and one thread: results, and gradients of the
mean square of all results. Packages that are not there are left out, and named.
"""
import logging
import time
import warnings

import torch

import zyx.torch  # noqa: F401


def _image(size=64, batch=1):
    return (torch.randn(batch, 3, size, size),)


def _tokens(length=16):
    return (torch.randint(0, 100, (1, length)),)


def _hub(model, config, **sizes):
    """A network of transformers, made small."""
    def make():
        import transformers
        return getattr(transformers, model)(getattr(transformers, config)(**sizes))

    return make


def _vision(name):
    def make():
        import torchvision
        return getattr(torchvision.models, name)()

    return make


def _timm(name):
    def make():
        import timm
        return timm.create_model(name, img_size=64) if "vit" in name or "mixer" in name or "deit" in name else timm.create_model(name)

    return make


SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "vocab_size": 128}
MODELS = {
    "torch: transformer encoder": (lambda: torch.nn.TransformerEncoder(
        torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, dropout=0.0), 2), lambda: (torch.randn(2, 10, 32),)),
    "torch: transformer": (lambda: torch.nn.Transformer(32, 4, 1, 1, 64, dropout=0.0, batch_first=True),
                           lambda: (torch.randn(2, 7, 32), torch.randn(2, 5, 32))),
    "torch: convolutions": (lambda: torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, stride=2, padding=1), torch.nn.GroupNorm(4, 16), torch.nn.SiLU(),
        torch.nn.ConvTranspose2d(16, 8, 4, stride=2, padding=1), torch.nn.InstanceNorm2d(8), torch.nn.AdaptiveAvgPool2d(3),
        torch.nn.Flatten(), torch.nn.Linear(72, 5)), lambda: _image(16, 2)),
    "torch: bilinear, embeddings": (lambda: torch.nn.Sequential(
        torch.nn.Embedding(100, 12), torch.nn.Linear(12, 12), torch.nn.Softmax(-1)), _tokens),
    "torchvision: resnet18": (_vision("resnet18"), _image),
    "torchvision: resnet50": (_vision("resnet50"), _image),
    "torchvision: mobilenet_v3_small": (_vision("mobilenet_v3_small"), _image),
    "torchvision: efficientnet_b0": (_vision("efficientnet_b0"), _image),
    "torchvision: densenet121": (_vision("densenet121"), _image),
    "torchvision: convnext_tiny": (_vision("convnext_tiny"), _image),
    "torchvision: regnet_y_400mf": (_vision("regnet_y_400mf"), _image),
    "torchvision: shufflenet_v2_x0_5": (_vision("shufflenet_v2_x0_5"), _image),
    "torchvision: squeezenet1_1": (_vision("squeezenet1_1"), _image),
    "torchvision: vgg11": (_vision("vgg11"), _image),
    "torchvision: vit_b_16": (_vision("vit_b_16"), lambda: _image(224)),
    "torchvision: swin_t": (_vision("swin_t"), _image),
    "timm: vit_tiny_patch16_224": (_timm("vit_tiny_patch16_224"), _image),
    "timm: mixer_s16_224": (_timm("mixer_s16_224"), _image),
    "timm: resnet10t": (_timm("resnet10t"), _image),
    "timm: convnextv2_atto": (_timm("convnextv2_atto"), _image),
    "timm: ghostnet_100": (_timm("ghostnet_100"), _image),
    "transformers: BERT": (_hub("BertModel", "BertConfig", **SMALL), _tokens),
    "transformers: GPT-2": (_hub("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, vocab_size=128), _tokens),
    "transformers: Llama": (_hub("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=2, **SMALL), _tokens),
    "transformers: Qwen2": (_hub("Qwen2ForCausalLM", "Qwen2Config", num_key_value_heads=2, **SMALL), _tokens),
    "transformers: Mistral": (_hub("MistralForCausalLM", "MistralConfig", num_key_value_heads=2, **SMALL), _tokens),
    "transformers: RoBERTa": (_hub("RobertaModel", "RobertaConfig", **SMALL), _tokens),
    "transformers: DistilBERT": (_hub("DistilBertModel", "DistilBertConfig", dim=32, n_layers=2, n_heads=4, hidden_dim=64,
                                      vocab_size=128), _tokens),
    "transformers: ViT": (_hub("ViTModel", "ViTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                               intermediate_size=64, image_size=32, patch_size=8), lambda: _image(32)),
    "transformers: Whisper": (_hub("WhisperModel", "WhisperConfig", d_model=32, encoder_layers=1, decoder_layers=1,
                                   encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                                   decoder_ffn_dim=64, vocab_size=128, max_source_positions=50, pad_token_id=0,
                                   bos_token_id=1, eos_token_id=2, decoder_start_token_id=1),
                              lambda: (torch.randn(1, 80, 100), None, torch.randint(0, 100, (1, 4)))),
}


def _tensors(result):
    found = [each for each in torch.utils._pytree.tree_leaves(
        dict(result) if hasattr(result, "keys") else result) if isinstance(each, torch.Tensor) and each.is_floating_point()]
    return [each for each in found if each.requires_grad] or found


def _run(function, model, arguments):
    model.zero_grad()
    torch.manual_seed(2)
    results = _tensors(function(*arguments))
    sum(each.square().mean() for each in results).backward()
    return [each.detach() for each in results], {name: p.grad for name, p in model.named_parameters() if p.grad is not None}


def _apart(a, b):
    """The largest difference in parts of the largest number."""
    return (a - b).abs().max().item() / max(a.abs().max().item(), 1e-30) if a.numel() else 0.0


def main(only=None):
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    counts = {"right": 0, "wrong": 0, "refused": 0, "left out": 0}
    print("| model | answer | results apart | gradients apart | compilation and first step | PyTorch's step |\n|---|---|---|---|---|---|")
    for name, (make, draw) in MODELS.items():
        if only and only not in name:
            continue
        torch._dynamo.reset()
        torch.manual_seed(1)
        try:
            model = make().eval()
        except ImportError as error:
            counts["left out"] += 1
            print(f"| {name} | left out: {error} | | | | |", flush=True)
            continue
        arguments = draw()
        begin = time.perf_counter()
        expected, slopes = _run(model, model, arguments)
        middle = time.perf_counter()
        try:
            found, its = _run(torch.compile(model, backend="zyx"), model, arguments)
        except Exception as error:
            counts["refused"] += 1
            print(f"| {name} | refused: {str(error).splitlines()[1 if 'raised' in str(error) else 0][:160]} | | | | |", flush=True)
            continue
        end = time.perf_counter()
        results = max(_apart(a, b) for a, b in zip(expected, found))
        # Of gradients that cancel the size is that of the largest.
        largest = max(slope.abs().max().item() for slope in slopes.values())
        gradients = max((slopes[key] - its[key]).abs().max().item() for key in slopes) / max(largest, 1e-30)
        answer = "right" if results < 2e-4 and gradients < 1e-3 and its.keys() == slopes.keys() else "wrong"
        counts[answer] += 1
        print(f"| {name} | {answer} | {results:.1e} | {gradients:.1e} | {end - middle:.1f} s | {middle - begin:.1f} s |", flush=True)
    print("models: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["wrong"] else 0
