import { appendFileSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { requireDeclared } from './declared-servers.ts'
import { MissingError } from './missing-error.ts'
import type { ProgramName } from './programs/programs.ts'
import { provideProgram } from './programs/provide-program.ts'
import type { OpenServer } from './server.ts'
import { type ServerName, servers } from './servers/index.ts'

type Opener<Name extends ServerName> = (typeof servers)[Name]
type Opened<Name extends ServerName> = Awaited<ReturnType<Opener<Name>>>

/**
 * Opens a server for a test and closes it after the test:
 *
 *     const redis = await open(t, 'redis')
 *     if (!redis) return
 *
 * When its program is missing and cannot be installed, the test is skipped and the result is
 * undefined; with `CI=true` the test fails instead, unless the program is optional. Tests that share
 * a server are subtests of one that opens it.
 */
export async function open<Name extends ServerName>(
  t: Pick<TestContext, 'after' | 'skip'>,
  name: Name,
  ...options: Parameters<Opener<Name>>
): Promise<Opened<Name> | undefined> {
  requireDeclared(name)
  // TypeScript cannot see that the opener and its options belong to the same name.
  const opener = servers[name] as (...options: Parameters<Opener<Name>>) => Promise<Opened<Name>>
  return openOrSkip(t, () => opener(...options), readRunContext())
}

/**
 * The path of a program that a test runs itself; like `open`, it skips the test if the program is
 * missing.
 */
export function provideOrSkip(
  t: Pick<TestContext, 'skip'>,
  name: ProgramName,
): Promise<string | undefined> {
  return runOrSkip(t, () => provideProgram(name))
}

/**
 * Returns the result of the work; skips the test and returns undefined if it throws a MissingError.
 */
export async function runOrSkip<Result>(
  t: Pick<TestContext, 'skip'>,
  work: () => Result | Promise<Result>,
  runContext = readRunContext(),
): Promise<Result | undefined> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof MissingError)) throw error
    skipAsMissing(t, error, runContext)
    return undefined
  }
}

export interface RunContext {
  readonly isCi: boolean
  /** A file that `npm test` names, and whose content it prints at the end of its report. */
  readonly missesFile: string | undefined
}

const readRunContext = (): RunContext => ({
  isCi: process.env.CI === 'true',
  missesFile: process.env.PORTCULLIS_TEST_MISSES,
})

export async function openOrSkip<Server extends OpenServer>(
  t: Pick<TestContext, 'after' | 'skip'>,
  opener: () => Promise<Server>,
  runContext: RunContext,
): Promise<Server | undefined> {
  const server = await runOrSkip(t, opener, runContext)
  if (server) t.after(() => server.stop())
  return server
}

function skipAsMissing(
  t: Pick<TestContext, 'skip'>,
  error: MissingError,
  { isCi, missesFile }: RunContext,
): void {
  if (isCi && !error.isOptional) throw error
  const { program, installCommand } = error
  if (missesFile) appendFileSync(missesFile, `${JSON.stringify({ program, installCommand })}\n`)
  t.skip(error.message)
}
