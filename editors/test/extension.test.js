// The extension with stand-ins for VS Code and its client library.
"use strict";

const { test } = require("node:test");
const assert = require("node:assert");
const { existsSync, readFileSync } = require("node:fs");
const Module = require("node:module");
const { join } = require("node:path");
const { execFileSync } = require("node:child_process");

const folder = join(__dirname, "../vscode");
const manifest = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

function loaded(command, fails) {
  const seen = { commands: {}, clients: [], errors: [], configured: undefined };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { id, name, server, options, running: false });
      seen.clients.push(this);
    }
    async start() {
      if (fails) throw new Error("no such file");
      this.running = true;
    }
    async stop() {
      this.running = false;
    }
    isRunning() {
      return this.running;
    }
  }
  const standIns = {
    vscode: {
      commands: { registerCommand: (name, run) => ((seen.commands[name] = run), { dispose() {} }) },
      window: { showErrorMessage: (text) => seen.errors.push(text) },
      workspace: {
        getConfiguration: (section) => ({ get: (key) => (seen.configured = `${section}.${key}`) && command }),
        createFileSystemWatcher: (glob) => ({ glob }),
        onDidChangeConfiguration: () => ({ dispose() {} }),
      },
    },
    "vscode-languageclient/node": { LanguageClient, TransportKind: { stdio: 0 } },
  };
  const load = Module._load;
  Module._load = (name, ...rest) => standIns[name] ?? load(name, ...rest);
  try {
    const path = join(folder, manifest.main);
    delete require.cache[path];
    return [require(path), seen];
  } finally {
    Module._load = load;
  }
}

test("it starts what the setting says, and again on demand", async () => {
  const [extension, seen] = loaded(["/opt/pointsman", "lsp", "--stdio"]);
  await extension.activate({ subscriptions: [] });
  const { server, options } = seen.clients[0];
  assert.strictEqual(server.run.command, "/opt/pointsman");
  assert.deepStrictEqual(server.run.args, ["lsp", "--stdio"]);
  assert.ok(options.documentSelector.every(({ language }) => language === manifest.contributes.languages[0].id));
  assert.ok(seen.configured in manifest.contributes.configuration.properties);
  assert.deepStrictEqual(
    Object.keys(seen.commands),
    manifest.contributes.commands.map(({ command }) => command),
  );
  await seen.commands["pointsman.restart"]();
  assert.deepStrictEqual(seen.clients.map((client) => client.running), [false, true]);
  await extension.deactivate();
  assert.ok(!seen.clients[1].running);
});

test("it says so when the program is missing", async () => {
  const [extension, seen] = loaded(["pointsman", "lsp"], true);
  await extension.activate({ subscriptions: [] });
  assert.match(seen.errors[0], /pointsman\.server\.command/);
});

test("everything that the manifest names is there", () => {
  execFileSync(process.execPath, [join(folder, "bundle.js")]);
  const { languages, grammars } = manifest.contributes;
  for (const path of [manifest.main, languages[0].configuration, grammars[0].path, ...manifest.files]) {
    assert.ok(existsSync(join(folder, path)), path);
  }
  const grammar = JSON.parse(readFileSync(join(folder, grammars[0].path), "utf8"));
  assert.strictEqual(grammar.scopeName, grammars[0].scopeName);
  JSON.parse(readFileSync(join(folder, languages[0].configuration), "utf8"));
});
