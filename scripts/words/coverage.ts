/** The folders and files that are checked. Add a folder with one line once its texts are clean. */
export const covered: readonly string[] = [
  '.ci/run',
  'CONTRIBUTING.md',
  'README.md',
  'SECURITY.md',
  'deploy',
  'docs',
  'examples',
  'packages/auth',
  'packages/bench-kit',
  'packages/graphql-over-http',
  'packages/grpc-unary',
  'packages/limiter',
  'packages/portcullis',
  'packages/ratelimit',
  'packages/service-kit',
  'packages/test-servers',
  'scripts',
  'site',
]

/** Folders below them that are not checked, mostly because their files are not written by hand. */
export const skippedFolders: readonly string[] = [
  'node_modules',
  '.cache',
  'dist',
  'artifacts',
  'coverage',
  'generated',
  // A released migration does not change any more.
  'migrations',
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
    file: 'packages/portcullis/src/api/schema.ts',
    phrase: 'stranger',
    because: 'It is part of a greeting.',
  },
  {
    file: 'packages/portcullis/src/web/components/toasts.tsx',
    phrase: 'polite',
    because: 'It is a value of aria-live.',
  },
  {
    file: 'packages/portcullis/src/web/pages/graphql/audit-run-panel.tsx',
    phrase: 'polite',
    because: 'It is a value of aria-live.',
  },
  {
    file: 'packages/portcullis/src/web/pages/limits/decision/decision-panel.tsx',
    phrase: 'polite',
    because: 'It is a value of aria-live.',
  },
  {
    file: 'packages/portcullis/src/web/pages/try/graphql-card.tsx',
    phrase: 'polite',
    because: 'It is a value of aria-live.',
  },
  {
    file: 'packages/portcullis/test/up/up.test.ts',
    phrase: 'stranger',
    because: 'It is part of a greeting.',
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
