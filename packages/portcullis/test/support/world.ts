import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const program = join(import.meta.dirname, '../../src/main.ts')

/** Everything that `portcullis up` starts, in a folder of its own. */
export interface TestWorld extends AsyncDisposable {
  /** With the token. */
  readonly entryUrl: string
  /** Without it. */
  readonly consoleUrl: string
  readonly folder: string
  readonly baseUrls: { readonly auth: string; readonly graphql: string; readonly ratelimit: string }
}

/** Starts it on free ports and waits until it is ready. */
export async function openWorld(args: readonly string[] = []): Promise<TestWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
  // A range of its own, so that two of them can run beside each other.
  const base = 20_000 + Math.floor(Math.random() * 1_000) * 10
  const child = spawn(
    process.execPath,
    [program, 'up', '--data', folder, '--port-base', `${base}`, ...args],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, NO_COLOR: '1' } },
  )
  const exited = once(child, 'exit')
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text
  })
  const entry = Promise.withResolvers<string>()
  createInterface({ input: child.stdout })
    .on('line', (line) => {
      const url = /http:\/\/localhost:\d+\/\?token=\S+/.exec(line)?.[0]
      if (url !== undefined) entry.resolve(url)
    })
    .once('close', () => entry.reject(new Error(`portcullis up ended:\n${complaints}`)))
  const entryUrl = await entry.promise
  return {
    entryUrl,
    consoleUrl: new URL(entryUrl).origin,
    folder,
    baseUrls: {
      graphql: `http://127.0.0.1:${base + 1}`,
      auth: `http://127.0.0.1:${base + 2}`,
      ratelimit: `http://127.0.0.1:${base + 3}`,
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGINT')
      await exited
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
