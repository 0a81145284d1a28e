import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFile, type Occupation } from '../../src/up/data-folder.ts'
import type { DoorName } from '../../src/up/ports.ts'
import { launchUp } from './launch-up.ts'

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
  const program = launchUp(['--data', folder, '--port-base', '0', ...args])
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

/** Where the doors of the one that is at work on a folder are. */
export function createBaseUrls(folder: string): (door: DoorName) => string {
  const { ports = {} }: Occupation = JSON.parse(readFileSync(join(folder, lockFile), 'utf8'))
  return (door) => `http://127.0.0.1:${ports[door]}`
}
