#!/usr/bin/env lua5.4
-- SPDX-License-Identifier: Apache-2.0
-- Writes a tiny Llama-architecture GGUF (v3) model with pseudo-random weights.
--
--   lua5.4 gen_tiny_gguf.lua OUT.gguf [key=value ...]
--     layers=2 embd=64 heads=4 ff=128 ctx=2048 seed=1 type=f32|f16 name=pairperf-tiny
--     eos=never|maybe
--
-- Nothing is downloaded and nothing is copied from another model: the vocabulary
-- is the 256 byte tokens, the printable ASCII characters and the word list below,
-- and every weight comes from the generator in this file, so the same arguments
-- give the same bytes on every machine.
--
-- The text is meaningless, but the engine's work is real (tokenise, prefill, KV
-- cache, sampling, streaming), and two properties make it a good test target:
--  * dimension 0 of the embedding is a constant carried through the residual
--    stream, and output.weight gives words a positive and byte/control tokens a
--    negative share of it: replies are readable ASCII words, never broken UTF-8;
--  * with eos=never (default) the end token is never sampled, so a reply has
--    exactly max_tokens tokens and ends with finish_reason "length". With
--    eos=maybe replies end with "stop" after a varying number of tokens.

local words = [[
the of and to in is that it was for on are as with they be at one have this from or had by hot but
some what there we can out other were all your when up use word how said an each she which do their
time if will way about many then them would write like so these her long make thing see him two has
look more day could go come did my sound no most number who over know water than call first people
may down side been now find any new work part take get place made live where after back little only
round man year came show every good me give our under name very through just form much great think
say help low line before turn cause same mean differ move right boy old too does tell sentence set
three want air well also play small end put home read hand port large spell add even land here must
big high such follow act why ask men change went light kind off need house picture try us again
animal point mother world near build self earth father head stand own page should country found
answer school grow study still learn plant cover food sun four thought let keep eye never last door
between city tree cross since hard start might story saw far sea draw left late run while press
close night real life few stop open seem together next white children begin got walk example ease
]]

local out = assert(arg[1], "usage: gen_tiny_gguf.lua OUT.gguf [key=value ...]")
local opt = {
  layers = 2,
  embd = 64,
  heads = 4,
  ff = 128,
  ctx = 2048,
  seed = 1,
  type = "f32",
  name = "pairperf-tiny",
  eos = "never",
}
for i = 2, #arg do
  local k, v = arg[i]:match("^(%w+)=(.+)$")
  if not k or opt[k] == nil then
    error("bad argument: " .. arg[i])
  end
  if type(opt[k]) == "number" then
    v = assert(math.tointeger(tonumber(v)), "not an integer: " .. arg[i])
  end
  opt[k] = v
end
assert(opt.embd % opt.heads == 0 and (opt.embd // opt.heads) % 2 == 0, "embd/heads must be even")
assert(opt.embd % 32 == 0 and opt.ff % 32 == 0, "embd and ff must be multiples of 32")
assert(opt.type == "f32" or opt.type == "f16", "type is f32 or f16")

-- xorshift64*, so that the weights do not depend on the host's math.random
local state = (opt.seed * 0x9E3779B97F4A7C15) | 1
local function uniform() -- in [-1, 1)
  state = state ~ (state >> 12)
  state = state ~ (state << 25)
  state = state ~ (state >> 27)
  local r = state * 0x2545F4914F6CDD1D
  return (r >> 11) * (1.0 / (1 << 52)) - 1.0
end

-- GGUF value writers
local T = { u32 = 4, f32 = 6, bool = 7, str = 8, arr = 9, i32 = 5 }
local function str(s)
  return string.pack("<s8", s)
end
local kvs = {}
local function kv(key, t, payload)
  kvs[#kvs + 1] = str(key) .. string.pack("<I4", t) .. payload
end
local function u32(key, v)
  kv(key, T.u32, string.pack("<I4", v))
end
local function f32(key, v)
  kv(key, T.f32, string.pack("<f", v))
end
local function s(key, v)
  kv(key, T.str, str(v))
end
local function bool(key, v)
  kv(key, T.bool, string.pack("<B", v and 1 or 0))
end
local function arr(key, t, fmt, list)
  local parts = { string.pack("<I4I8", t, #list) }
  for i = 1, #list do
    parts[i + 1] = fmt and string.pack(fmt, list[i]) or str(list[i])
  end
  kv(key, T.arr, table.concat(parts))
end

-- vocabulary (SentencePiece-style: U+2581 marks a leading space)
local NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
local tokens, scores, types = {}, {}, {}
local function token(text, score, kind)
  tokens[#tokens + 1], scores[#scores + 1], types[#types + 1] = text, score, kind
end
token("<unk>", 0, UNKNOWN)
token("<s>", 0, CONTROL)
token("</s>", 0, CONTROL)
for b = 0, 255 do
  token(string.format("<0x%02X>", b), 0, BYTE)
end
local first_word = #tokens -- 0-based id of the next token
token("\u{2581}", -1000, NORMAL)
for c = 33, 126 do
  token(string.char(c), -1000 - c, NORMAL)
end
local first_spoken = #tokens
local seen = {}
for w in words:gmatch("%a+") do
  if #w > 1 and not seen[w] then
    seen[w] = true
    token("\u{2581}" .. w, -#tokens, NORMAL)
  end
end
local last_spoken = #tokens
while #tokens % 32 ~= 0 do
  token(string.format("\u{2581}w%d", #tokens), -2000, NORMAL)
end
local n_vocab = #tokens

s("general.architecture", "llama")
s("general.name", opt.name)
u32("general.file_type", opt.type == "f32" and 0 or 1)
u32("llama.context_length", opt.ctx)
u32("llama.embedding_length", opt.embd)
u32("llama.block_count", opt.layers)
u32("llama.feed_forward_length", opt.ff)
u32("llama.rope.dimension_count", opt.embd // opt.heads)
u32("llama.attention.head_count", opt.heads)
u32("llama.attention.head_count_kv", opt.heads)
f32("llama.attention.layer_norm_rms_epsilon", 1e-5)
f32("llama.rope.freq_base", 10000)
u32("llama.vocab_size", n_vocab)
s("tokenizer.ggml.model", "llama")
s("tokenizer.ggml.pre", "default")
arr("tokenizer.ggml.tokens", T.str, nil, tokens)
arr("tokenizer.ggml.scores", T.f32, "<f", scores)
arr("tokenizer.ggml.token_type", T.i32, "<i4", types)
u32("tokenizer.ggml.bos_token_id", 1)
u32("tokenizer.ggml.eos_token_id", 2)
u32("tokenizer.ggml.unknown_token_id", 0)
bool("tokenizer.ggml.add_bos_token", true)
bool("tokenizer.ggml.add_space_prefix", true)
s(
  "tokenizer.chat_template",
  "{% for m in messages %}[{{ m['role'] }}] {{ m['content'] }}\n{% endfor %}"
    .. "{% if add_generation_prompt %}[assistant]{% endif %}"
)

-- tensors
local tensors, offset, ALIGN = {}, 0, 32
local function half(x) -- round-to-nearest binary16 for |x| < 65504
  if x == 0 then
    return 0
  end
  local sign = 0
  if x < 0 then
    sign, x = 0x8000, -x
  end
  local e = math.floor(math.log(x, 2))
  if 2.0 ^ e > x then
    e = e - 1
  elseif 2.0 ^ (e + 1) <= x then
    e = e + 1
  end
  if e < -14 then
    return sign | math.floor(x * 2.0 ^ 24 + 0.5)
  end
  local m = math.floor((x * 2.0 ^ -e - 1) * 1024 + 0.5)
  return sign + ((e + 15) << 10) + m
end
-- dims are in GGUF order: the fastest-varying first; f(row, column) gives a value
local function tensor(name, dims, f, force_f32)
  local f16 = not force_f32 and opt.type == "f16"
  local parts, rows, cols = {}, dims[2] or 1, dims[1]
  for r = 0, rows - 1 do
    local row = {}
    for c = 0, cols - 1 do
      row[c + 1] = f16 and half(f(r, c)) or f(r, c)
    end
    local fmt, chunk = (f16 and "I2" or "f"), {}
    for i = 1, cols, 64 do
      local n = math.min(64, cols - i + 1)
      chunk[#chunk + 1] = string.pack("<" .. fmt:rep(n), table.unpack(row, i, i + n - 1))
    end
    parts[r + 1] = table.concat(chunk)
  end
  local data = table.concat(parts)
  tensors[#tensors + 1] =
    { name = name, dims = dims, type = f16 and 1 or 0, data = data, offset = offset }
  offset = offset + #data + (-#data % ALIGN)
end
local E, F = opt.embd, opt.ff
-- scales shrink with the width, so that larger models keep the two properties too
local wide, deep = math.sqrt(64 / E), math.sqrt(64 / E) * math.sqrt(2 / opt.layers)
local function matrix(scale)
  return function()
    return uniform() * scale
  end
end
local function quiet(scale) -- leaves dimension 0 of the residual stream alone
  return function(r)
    local v = uniform() * scale
    return r == 0 and 0.0 or v
  end
end
local function ones()
  return 1.0
end
tensor("token_embd.weight", { E, n_vocab }, function(_, c)
  local v = uniform() * 0.5
  return c == 0 and 2.0 or v
end)
for l = 0, opt.layers - 1 do
  local p = "blk." .. l .. "."
  tensor(p .. "attn_norm.weight", { E }, ones, true)
  tensor(p .. "attn_q.weight", { E, E }, matrix(0.3 * wide))
  tensor(p .. "attn_k.weight", { E, E }, matrix(0.3 * wide))
  tensor(p .. "attn_v.weight", { E, E }, matrix(0.2 * wide))
  tensor(p .. "attn_output.weight", { E, E }, quiet(0.2 * deep))
  tensor(p .. "ffn_norm.weight", { E }, ones, true)
  tensor(p .. "ffn_gate.weight", { E, F }, matrix(0.2 * wide))
  tensor(p .. "ffn_up.weight", { E, F }, matrix(0.2 * wide))
  tensor(p .. "ffn_down.weight", { F, E }, quiet(0.2 * deep))
end
tensor("output_norm.weight", { E }, ones, true)
tensor("output.weight", { E, n_vocab }, function(r, c)
  local v = uniform() * 0.35 * wide
  if r == 2 and opt.eos == "maybe" then
    return c == 0 and 9.2 or 0.0
  end
  if c ~= 0 then
    return v
  end
  return r >= first_spoken and r < last_spoken and 8.0 or -8.0
end)

local f = assert(io.open(out, "wb"))
f:write("GGUF", string.pack("<I4I8I8", 3, #tensors, #kvs), table.concat(kvs))
for _, t in ipairs(tensors) do
  f:write(str(t.name), string.pack("<I4", #t.dims))
  for _, d in ipairs(t.dims) do
    f:write(string.pack("<I8", d))
  end
  f:write(string.pack("<I4I8", t.type, t.offset))
end
local pos = f:seek("cur")
f:write(("\0"):rep(-pos % ALIGN))
for _, t in ipairs(tensors) do
  f:write(t.data, ("\0"):rep(-#t.data % ALIGN))
end
f:close()
io.stderr:write(
  string.format(
    "%s: %d tokens, %d tensors (first word id %d, first spoken id %d)\n",
    out,
    n_vocab,
    #tensors,
    first_word,
    first_spoken
  )
)
