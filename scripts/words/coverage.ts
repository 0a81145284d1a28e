/** The folders and files that are checked. Add a folder with one line once its texts are clean. */
export const covered: readonly string[] = [
  '.ci/run',
  'packages/auth/src/app.ts',
  'packages/auth/src/commands',
  'packages/auth/src/config',
  'packages/auth/src/create-services.ts',
  'packages/auth/src/db/audit-notices.ts',
  'packages/auth/src/db/backup',
  'packages/auth/src/db/connection',
  'packages/auth/src/db/database-clock.ts',
  'packages/auth/src/db/database-errors.ts',
  'packages/auth/src/db/database.ts',
  'packages/auth/src/db/embedded',
  'packages/auth/src/db/migrate',
  'packages/auth/src/db/prepared-statements.ts',
  'packages/auth/src/db/schema',
  'packages/auth/src/db/statement.ts',
  'packages/auth/src/errors.ts',
  'packages/auth/src/http',
  'packages/auth/src/limits',
  'packages/auth/src/main.ts',
  'packages/auth/src/messages',
  'packages/auth/src/outgoing',
  'packages/auth/src/passwords',
  'packages/auth/src/services.ts',
  'packages/auth/src/telemetry',
  'packages/auth/src/template',
  'packages/auth/src/tokens',
  'packages/auth/src/verify',
  'packages/auth/src/workers',
  'packages/bench-kit',
  'packages/graphql-over-http',
  'packages/grpc-unary',
  'packages/limiter',
  'packages/service-kit',
  'packages/test-servers',
  'scripts',
]

/** Folders below them whose files are not written by hand. */
export const skippedFolders: readonly string[] = [
  'node_modules',
  'dist',
  'artifacts',
  'coverage',
  'generated',
]

/** Files that contain the phrases on purpose. */
export const skippedFiles: readonly string[] = [
  'scripts/words/coverage.ts',
  'scripts/words/phrases.ts',
  'scripts/test/words.test.ts',
]

/** A use of a phrase that is right. */
export interface Exception {
  readonly file: string
  /** The text as it occurs in the file. It is allowed everywhere in that file. */
  readonly phrase: string
  readonly because: string
}

/** An exception that no longer occurs in its file is reported. */
export const exceptions: readonly Exception[] = [
  {
    file: 'packages/auth/src/db/embedded/account.ts',
    phrase: 'nobody',
    because: 'It is the name of a Unix account.',
  },
  {
    file: 'packages/test-servers/src/account.ts',
    phrase: 'nobody',
    because: 'It is the name of a Unix account.',
  },
  {
    file: 'packages/test-servers/src/servers/pgbouncer.ts',
    phrase: 'nobody',
    because: 'It is the user of an address that leads nowhere.',
  },
  {
    file: 'scripts/test/check.test.ts',
    phrase: 'Whoever',
    because: 'It is a planted violation.',
  },
]
