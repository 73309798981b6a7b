// Starts `tracewise lsp` and connects the editor with it.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

async function start() {
  const command = vscode.workspace.getConfiguration("tracewise").get("path") || "tracewise";
  client = new LanguageClient(
    "tracewise",
    "Tracewise",
    { command, args: ["lsp"] },
    { documentSelector: [{ language: "tracewise" }] },
  );
  try {
    await client.start();
  } catch (error) {
    const hint = "Install it, or set `tracewise.path` to where it is.";
    vscode.window.showErrorMessage(`The command \`${command}\` could not be started: ${error.message ?? error}. ${hint}`);
  }
}

async function stop() {
  const old = client;
  client = undefined;
  if (old?.needsStop()) {
    await old.stop();
  }
}

exports.activate = async function (context) {
  const restart = async () => {
    await stop();
    await start();
  };
  context.subscriptions.push(
    vscode.commands.registerCommand("tracewise.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("tracewise.path") && restart()),
  );
  await start();
};

exports.deactivate = stop;
