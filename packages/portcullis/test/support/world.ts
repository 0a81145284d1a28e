import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FolderUser, lockFile } from '../../src/up/data-folder.ts'
import type { ListenerName } from '../../src/up/ports.ts'
import { launchUp } from './launch-up.ts'

/** Everything that `portcullis up` starts, in a separate folder. */
export interface TestWorld extends AsyncDisposable {
  /** The URL with the token. */
  readonly entryUrl: string
  /** The URL without the token. */
  readonly consoleUrl: string
  readonly folder: string
  readonly baseUrls: { readonly auth: string; readonly graphql: string; readonly ratelimit: string }
}

/** Starts everything on free ports and waits until it is ready. */
export async function openWorld(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<TestWorld> {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-'))
  const program = launchUp(['--data', folder, '--port-base', '0', ...args], { env })
  await program.ready
  const entryUrl = /http:\/\/localhost:\d+\/\?token=\S+/.exec(program.output())?.[0] ?? ''
  const baseUrl = createBaseUrls(folder)
  return {
    entryUrl,
    consoleUrl: entryUrl === '' ? '' : new URL(entryUrl).origin,
    folder,
    baseUrls: {
      graphql: baseUrl('graphql'),
      auth: baseUrl('auth'),
      ratelimit: baseUrl('ratelimit'),
    },
    async [Symbol.asyncDispose]() {
      await program.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** Returns the URLs of the parts that run on a data folder. */
export function createBaseUrls(folder: string): (name: ListenerName) => string {
  const { ports = {} }: FolderUser = JSON.parse(readFileSync(join(folder, lockFile), 'utf8'))
  return (name) => `http://127.0.0.1:${ports[name]}`
}
