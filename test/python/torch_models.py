"""Networks through torch.compile(backend="zyx") beside eager mode, with random weights and one thread: results, and gradients of the
mean square of all results. Both are compared with eager mode in f64. A ReLU whose argument is nearly 0 changes gradients of a deep
network by a percent where rounding takes it to the other side: what inputs that differ by 1e-6 of themselves change in f64 is no
mistake. Packages that are not there are left out, and named.
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


def _timm(name, **sizes):
    def make():
        import timm
        return timm.create_model(name, **sizes)

    return make


def _joint():
    """Token numbers, image and mask, as networks of text and pictures take them."""
    return torch.randint(3, 100, (2, 8)), torch.randn(2, 3, 32, 32), torch.ones(2, 8, dtype=torch.int64)


def settled(model, arguments):
    """A network with random weights whose results depend on all of it. Norms of batches have the statistics of one batch, because
    those of a new network, 0 and 1, make results of deep ones as small as rounding. Weights that begin as zeros are drawn."""
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1 and weight.abs().max() < 1e-4:
                weight.normal_(0, 0.02)
    norms = [each for each in model.modules() if isinstance(each, torch.nn.modules.batchnorm._BatchNorm)]
    if norms:
        momenta = [each.momentum for each in norms]
        for each in norms:
            each.momentum = 1.0
        with torch.no_grad():
            model.train()(*[torch.cat([x, *torch.randn(7, *x.shape)]) for x in arguments])
        for each, momentum in zip(norms, momenta):
            each.momentum = momentum
    return model.eval()


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
    "torchvision: mnasnet0_5": (_vision("mnasnet0_5"), _image),
    "timm: vit_tiny_patch16_224": (_timm("vit_tiny_patch16_224", img_size=64), _image),
    "timm: mixer_s16_224": (_timm("mixer_s16_224", img_size=64), _image),
    "timm: resnet10t": (_timm("resnet10t"), _image),
    "timm: convnextv2_atto": (_timm("convnextv2_atto"), _image),
    "timm: ghostnet_100": (_timm("ghostnet_100"), _image),
    "timm: efficientnet_lite0": (_timm("efficientnet_lite0"), _image),
    "timm: poolformer_s12": (_timm("poolformer_s12"), _image),
    "transformers: BERT": (_hub("BertModel", "BertConfig", **SMALL), _tokens),
    "transformers: GPT-2": (_hub("GPT2LMHeadModel", "GPT2Config", n_embd=32, n_layer=2, n_head=4, vocab_size=128), _tokens),
    "transformers: Llama": (_hub("LlamaForCausalLM", "LlamaConfig", num_key_value_heads=2, **SMALL), _tokens),
    "transformers: Qwen2": (_hub("Qwen2ForCausalLM", "Qwen2Config", num_key_value_heads=2, **SMALL), _tokens),
    "transformers: Mistral": (_hub("MistralForCausalLM", "MistralConfig", num_key_value_heads=2, **SMALL), _tokens),
    "transformers: RoBERTa": (_hub("RobertaModel", "RobertaConfig", **SMALL), _tokens),
    "transformers: DistilBERT": (_hub("DistilBertModel", "DistilBertConfig", dim=32, n_layers=2, n_heads=4, hidden_dim=64,
                                      vocab_size=128), _tokens),
    "transformers: ALBERT": (_hub("AlbertModel", "AlbertConfig", embedding_size=16, **SMALL), _tokens),
    "transformers: ELECTRA": (_hub("ElectraModel", "ElectraConfig", embedding_size=16, **SMALL), _tokens),
    "transformers: OPT": (_hub("OPTForCausalLM", "OPTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64,
                               vocab_size=128, word_embed_proj_dim=32), _tokens),
    "transformers: GPT-NeoX": (_hub("GPTNeoXForCausalLM", "GPTNeoXConfig", **SMALL), _tokens),
    "transformers: Gemma": (_hub("GemmaForCausalLM", "GemmaConfig", num_key_value_heads=1, head_dim=8, **SMALL), _tokens),
    "transformers: T5": (_hub("T5Model", "T5Config", d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, vocab_size=128,
                              dropout_rate=0.0), lambda: (*_tokens(), None, torch.randint(0, 100, (1, 6)))),
    "transformers: CLIP": (_hub("CLIPModel", "CLIPConfig", projection_dim=16, text_config={**SMALL, "eos_token_id": 2}, vision_config={
        "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64, "image_size": 32,
        "patch_size": 8}), _joint),
    "transformers: ViT": (_hub("ViTModel", "ViTConfig", hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                               intermediate_size=64, image_size=32, patch_size=8), lambda: _image(32)),
    "transformers: Whisper": (_hub("WhisperModel", "WhisperConfig", d_model=32, encoder_layers=1, decoder_layers=1,
                                   encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
                                   decoder_ffn_dim=64, vocab_size=128, max_source_positions=50, pad_token_id=0,
                                   bos_token_id=1, eos_token_id=2, decoder_start_token_id=1),
                              lambda: (torch.randn(1, 80, 100), None, torch.randint(0, 100, (1, 4)))),
}


def tensors(result):
    found = [each for each in torch.utils._pytree.tree_leaves(
        dict(result) if hasattr(result, "keys") else result) if isinstance(each, torch.Tensor) and each.is_floating_point()]
    return [each for each in found if each.requires_grad] or found


def _run(function, model, arguments):
    model.zero_grad()
    torch.manual_seed(2)
    results = tensors(function(*arguments))
    sum(each.square().mean() for each in results).backward()
    return [each.detach() for each in results], {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


def size(x):
    return x.abs().max().item() if x.numel() else 0.0


def _apart(expected, found):
    """How far results are apart in parts of their largest number, and gradients in parts of the largest of all: of gradients that
    cancel the size is that of the others."""
    (results, slopes), (own, its) = expected, found
    if [x.shape for x in results] != [x.shape for x in own] or slopes.keys() != its.keys():
        return float("inf"), float("inf")

    largest = max(map(size, slopes.values()), default=0.0)
    return (max(size(a - b) / max(size(a), 1e-30) for a, b in zip(results, own)),
            max((size(slopes[name] - its[name]) for name in slopes), default=0.0) / max(largest, 1e-30))


def main(only=None, device="cpu", part="1/1"):
    """On a device of PyTorch's, every so many networks of the list."""
    number_of_part, parts = map(int, part.split("/"))
    # Eager mode is what f32 is compared with.
    torch.backends.cudnn.allow_tf32 = False
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    counts = {"right": 0, "wrong": 0, "refused": 0, "left out": 0}
    print("| model | answer | results apart | by rounding | gradients apart | by rounding | compilation and first step | eager's step |\n"
          "|---|---|---|---|---|---|---|---|")
    for number, (name, (make, draw)) in enumerate(MODELS.items()):
        if only and only not in name or number % parts != number_of_part - 1:
            continue
        torch._dynamo.reset()
        torch.manual_seed(1)
        try:
            arguments = draw()
            model = settled(make(), arguments).to(device)
            arguments = [x if x is None else x.to(device) for x in arguments]
        except ImportError as error:
            counts["left out"] += 1
            print(f"| {name} | left out: {error} | | | | | | |", flush=True)
            continue
        begin = time.perf_counter()
        eager = _run(model, model, arguments)
        middle = time.perf_counter()
        try:
            found = _run(torch.compile(model, backend="zyx"), model, arguments)
        except Exception as error:
            counts["refused"] += 1
            print(f"| {name} | refused: {str(error).splitlines()[1 if 'raised' in str(error) else 0][:160]} | | | | | | |", flush=True)
            continue
        end = time.perf_counter()
        # In place, and last: parameters keep their names, and buffers of the graph are converted too.
        model.double()

        noises = [torch.randn(x.shape, dtype=torch.float64).to(device) if x is not None and x.is_floating_point() else None for x in arguments]

        def exact(size):
            return _run(model, model, [x if noise is None else x.double() * (1 + size * noise) for x, noise in zip(arguments, noises)])

        # Of two opposite changes one takes an argument that is nearly 0 to the other side.
        expected = exact(0)
        its = _apart(expected, found)
        own = [max(pair) for pair in zip(*[_apart(expected, each) for each in (eager, exact(1e-6), exact(-1e-6))])]
        answer = "right" if its[0] <= max(1e-4, 4 * own[0]) and its[1] <= max(1e-4, 4 * own[1]) else "wrong"
        counts[answer] += 1
        print(f"| {name} | {answer} | {its[0]:.1e} | {own[0]:.1e} | {its[1]:.1e} | {own[1]:.1e} | {end - middle:.1f} s | {middle - begin:.1f} s |", flush=True)
    print(f"models of {len(MODELS)}: " + ", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["wrong"] else 0
