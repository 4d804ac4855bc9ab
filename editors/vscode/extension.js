// The VS Code side of `pointsman lsp`: starts the server, and starts it anew when asked.
"use strict";

const { commands, window, workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

/** Starts the server that the settings name; says so when it cannot be started. */
async function start() {
  const [command, ...args] = workspace.getConfiguration("pointsman").get("server.command");
  const run = { command, args, transport: TransportKind.stdio };
  client = new LanguageClient(
    "pointsman",
    "pointsman rules",
    { run, debug: run },
    {
      documentSelector: [
        { language: "pointsman", scheme: "file" },
        { language: "pointsman", scheme: "untitled" },
      ],
      synchronize: { fileEvents: workspace.createFileSystemWatcher("**/*.rules") },
    },
  );
  try {
    await client.start();
  } catch (error) {
    window.showErrorMessage(
      `\`${command}\` could not be started (${error.message}). Install pointsman, or name it in the setting pointsman.server.command.`,
    );
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old && old.isRunning()) {
    await old.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    commands.registerCommand("pointsman.restart", restart),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("pointsman.server.command")) {
        return restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
