// The TextMate grammar against the language's own grammar and the shipped rules.
"use strict";

const { test, before } = require("node:test");
const assert = require("node:assert");
const { readFileSync, readdirSync, statSync } = require("node:fs");
const { join } = require("node:path");
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const root = join(__dirname, "../..");
const file = join(__dirname, "../rules.tmLanguage.json");
const read = (path) => readFileSync(path, "utf8");
const pest = read(join(root, "grammar/rules.pest"));
let grammar;

before(async () => {
  await oniguruma.loadWASM(readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm")));
  const onigLib = {
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
  };
  const registry = new Registry({
    onigLib: Promise.resolve(onigLib),
    loadGrammar: async () => parseRawGrammar(read(file), file),
  });
  grammar = await registry.loadGrammar("source.pointsman");
});

/** Tokens of a text: `{ text, scope, line }`, the scope being the innermost one. */
function tokens(text) {
  let stack = INITIAL;
  return text.split(/\r?\n/).flatMap((line, number) => {
    const result = grammar.tokenizeLine(line, stack);
    stack = result.ruleStack;
    return result.tokens.map((token) => ({
      text: line.slice(token.startIndex, token.endIndex),
      scope: token.scopes.at(-1),
      scopes: token.scopes,
      line: number + 1,
    }));
  });
}

const coloured = (token) => token.scope !== "source.pointsman";
const keyword = (token) => /^(keyword|storage|constant\.language|variable\.language)/.test(token.scope);

/** Every keyword of the language: of `k_…` rules all words in order, of sets of words each. */
function keywords() {
  const out = new Set();
  for (const [, name, body] of pest.matchAll(/^(\w+)\s*=\s*[@$_]?\{([\s\S]*?)\}\s*$/gm)) {
    const words = [...body.matchAll(/"([a-z][a-z_]+|a)"/g)].map((found) => found[1]);
    if (name.startsWith("k_")) {
      out.add(words.join(" "));
    } else if (name !== "duration" && name !== "regex") {
      words.forEach((word) => out.add(word));
    }
  }
  return [...out];
}

function rulesBelow(folder) {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    if (statSync(path).isDirectory()) return rulesBelow(path);
    return name.endsWith(".rules") ? [path] : [];
  });
}

test("every keyword of the language is coloured", () => {
  const all = keywords();
  const words = pest.match(/^k_\w+/gm);
  assert.ok(words.length > 100 && all.length > words.length, "the grammar's words were not found");
  for (const words of all) {
    for (const token of tokens(words)) {
      assert.ok(keyword(token) || !token.text.trim(), `\`${token.text}\` of \`${words}\`: ${token.scope}`);
    }
  }
});

test("no word is coloured that the language does not know", () => {
  const known = new Set(keywords().flatMap((words) => words.split(" ")));
  const patterns = JSON.stringify(JSON.parse(read(file)).repository.words).concat(
    JSON.stringify(JSON.parse(read(file)).repository.phrases),
  );
  let seen = 0;
  for (const [, list] of patterns.matchAll(/\(\?:((?:[a-z_]+(?:\[ \\+t\]\+)?\|?)+)\)/g)) {
    for (const word of list.split(/\||\[ \\+t\]\+/)) {
      assert.ok(known.has(word), `\`${word}\` is no word of the language`);
      seen += 1;
    }
  }
  assert.ok(seen > 150, `only ${seen} words found in the patterns`);
});

test("names, strings and comments of the shipped rules are told from keywords", () => {
  const reserved = new Set(keywords().flatMap((words) => words.split(" ")));
  let names = 0;
  for (const path of rulesBelow(join(root, "rules"))) {
    for (const token of tokens(read(path))) {
      const where = `${path}:${token.line} \`${token.text}\`: ${token.scopes.join(" ")}`;
      const inside = token.scopes.some((scope) => /^(string|comment)/.test(scope));
      if (inside) continue;
      assert.ok(!/["#]/.test(token.text), where);
      assert.ok(!token.scope.startsWith("invalid"), where);
      for (const word of token.text.split(/[\s.]+/).filter((word) => /^[a-z][a-z0-9_]*$/.test(word))) {
        if (!reserved.has(word)) {
          names += 1;
          assert.ok(!keyword(token), where);
        }
      }
    }
  }
  assert.ok(names > 500, `only ${names} names seen`);
});

/** The scopes of the non-blank tokens of a line, shortened. */
const scopes = (line) =>
  tokens(line)
    .filter((token) => token.text.trim())
    .map((token) => [token.text.trim(), token.scope.replace(".pointsman", "")]);

test("a rule", () => {
  assert.deepStrictEqual(scopes('rule slow -> rate_limit when text has any of ["额度 😀\\n"] # why'), [
    ["rule", "storage.type"],
    ["slow", "entity.name.function"],
    ["->", "keyword.operator.arrow"],
    ["rate_limit", "entity.name.type"],
    ["when", "keyword.control"],
    ["text", "variable.language.field"],
    ["has any of", "keyword.operator.word"],
    ["[", "punctuation.section"],
    ['"', "string.quoted.double"],
    ["额度 😀", "string.quoted.double"],
    ["\\n", "constant.character.escape"],
    ['"', "string.quoted.double"],
    ["]", "punctuation.section"],
    ["# why", "comment.line.number-sign"],
  ]);
});

test("what looks like a keyword in a name, an id or after a dot is none", () => {
  for (const text of ["text_of", "is-present", "openai-codex", "on.rules", "unless", "rule_x", "x.group"]) {
    assert.ok(!tokens(text).some(coloured), `${text}: ${JSON.stringify(scopes(text))}`);
  }
});

test("numbers, durations, times, codes and expressions", () => {
  const scope = (text) => tokens(text)[0].scope.replace(".pointsman", "");
  assert.strictEqual(scope("429"), "constant.numeric.range");
  assert.strictEqual(scope("500..599"), "constant.numeric.range");
  assert.strictEqual(scope("1h30m"), "constant.numeric.duration");
  assert.strictEqual(scope("10%"), "constant.numeric.percent");
  assert.strictEqual(scope("2026-02-28T22:00:00Z"), "constant.numeric.time");
  assert.strictEqual(scope("P0707"), "constant.other.code");
  assert.strictEqual(scope("## doc"), "comment.line.documentation");
  assert.strictEqual(scope("### ruler"), "comment.line.number-sign");
  const expression = scopes('text matches /\\bkey [#"]x/c always');
  assert.deepStrictEqual(expression.at(-1), ["always", "keyword.operator.word"]);
  assert.ok(expression.some(([text, scope]) => text === "c" && scope === "keyword.other.flag"));
});

test("a string or expression that is never closed ends with its line", () => {
  for (const open of ['rule a -> b when text has "x', "rule a -> b when text matches /x"]) {
    assert.strictEqual(tokens(`${open}\nrule c -> d otherwise`).at(-1).scope, "keyword.control.pointsman");
  }
});
