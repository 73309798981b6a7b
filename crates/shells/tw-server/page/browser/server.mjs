// The server under test, as a program of its own.
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

export class Server {
  constructor(program) {
    this.program = program;
    this.data = mkdtempSync(join(tmpdir(), "tracewise-page-"));
    this.address = "127.0.0.1:0";
    this.more = [];
  }

  /** Makes a token, and has the server ask for one. */
  token(name, rights) {
    const file = join(this.data, "tokens.toml");
    this.more = ["--tokens", file];
    return execFileSync(this.program, ["serve", ...this.more, "--new-token", name, "--rights", rights], { encoding: "utf8" }).trim();
  }

  /** Starts it, on the same port as before. */
  async start() {
    this.child = spawn(this.program, ["serve", "--quiet", "--listen", this.address, "--data", this.data, ...this.more], { stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface({ input: this.child.stdout });
    const first = await new Promise((resolve, reject) => {
      lines.once("line", resolve);
      this.child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    this.url = first.replace("listening on ", "");
    this.address = new URL(this.url).host;
  }

  /** As if the power failed. */
  async kill() {
    const gone = new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGKILL");
    await gone;
  }

  async end() {
    if (this.child.exitCode === null && this.child.signalCode === null) await this.kill();
    rmSync(this.data, { recursive: true, force: true });
  }

  async ask(path, request) {
    const answer = await fetch(this.url + path, request);
    const text = await answer.text();
    return { status: answer.status, headers: answer.headers, text, json: () => JSON.parse(text) };
  }

  async put(name, text) {
    const answer = await this.ask(`/v1/specs/${name}`, { method: "PUT", body: text });
    if (answer.status !== 200) throw new Error(answer.text);
  }

  async post(stream, events, query = "") {
    const answer = await this.ask(`/v1/streams/${stream}/events${query}`, { method: "POST", body: events.map((event) => JSON.stringify(event)).join("\n") });
    if (answer.status >= 300) throw new Error(answer.text);
  }
}
