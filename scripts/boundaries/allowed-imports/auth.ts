import type { FolderRules } from '../folders.ts'
import type { PackageTable } from '../table.ts'

/** How messages name counts and reasons. */
const texts = '@portcullis/service-kit/text'

const rules =
  'Rules do not import drivers, listeners or the environment; their dependencies are passed in.'

/** Features that other features are built from. */
const blocks = `
  features/users/** features/user-changes/** features/sessions/** features/one-time-codes/** features/factors/**
  features/passkeys/** features/redirects/** features/audit/** features/custom-providers/**`

/** Modules that every feature may use. */
const below = `
  messages/** tokens/ passwords/** plugins/** limits/** dpop/ db/ config/ config/mail/ services.ts
  addresses.ts stored-json.ts errors.ts`

/** The endpoints of each feature, and what they import of other flows. */
const endpoints: Readonly<Record<string, string>> = {
  'features/sign-up/endpoints.ts': '',
  'features/sign-in/endpoints/': 'features/external/** features/web3/** features/api-keys/**',
  'features/recovery/endpoints.ts': '',
  'features/external/endpoints/': '',
  'features/sso/endpoints/': 'features/external/** features/external/endpoints/ saml/',
  'features/scim/endpoints/': 'features/sso/**',
  'features/oauth-server/endpoints/':
    'features/admin/endpoints/ features/oauth-clients/** features/oauth-clients/endpoints.ts features/sign-in/** ' +
    'features/external/** features/external/endpoints/',
  'features/oauth-clients/endpoints.ts': 'features/admin/**',
  'features/api-keys/endpoints/': 'features/admin/** features/revocations/endpoints.ts',
  'features/revocations/endpoints.ts': '',
  'features/account/endpoints.ts': '',
  'features/admin/endpoints/':
    'features/factors/endpoints.ts features/passkeys/endpoints.ts features/sessions/endpoints.ts',
  'features/server/endpoints.ts': '',
  'features/sessions/endpoints.ts': '',
  'features/one-time-codes/endpoints.ts': '',
  'features/factors/endpoints.ts': '',
  'features/passkeys/endpoints.ts': '',
  'features/custom-providers/endpoints.ts': '',
}

const endpointRows: PackageTable = Object.fromEntries(
  Object.entries(endpoints).map(([name, flows]) => {
    const own = name.replace(/endpoints.*/, '**')
    const inside = `${own} ${flows} ${blocks} ${below} http/**`
    return [name, { inside, outside: texts, isOnlyNamed: true }]
  }),
)

export const auth: PackageTable = {
  'main.ts': { inside: 'commands/**', outside: '@portcullis/service-kit node:module node:process' },
  'commands/**': { inside: '**', outside: '@portcullis/service-kit node:*' },
  'workers/': {
    inside: 'app.ts create-services.ts explain-failure.ts http/** limits/** config/',
    types: 'reloading/',
    outside:
      '@portcullis/grpc-unary @portcullis/service-kit node:events node:module node:net node:process',
  },

  'app.ts': { inside: '**', types: '@portcullis/grpc-unary @portcullis/service-kit fastify' },
  'generation.ts': { inside: '**', outside: '@portcullis/service-kit', types: 'fastify' },
  'create-services.ts': {
    inside: '**',
    outside: 'node:os node:process',
    types: '@portcullis/service-kit',
  },
  'ext-authz/': {
    inside: 'features/api-keys/** http/** config/ services.ts wire-format.ts errors.ts',
    outside: '@portcullis/grpc-unary @portcullis/service-kit node:fs',
    types: 'node:net',
  },
  'reloading/': {
    inside: 'config/',
    outside: '@portcullis/service-kit node:fs node:path node:tty node:util',
    because: 'It applies a configuration by a function that it is given.',
  },
  'profiling/': {
    inside: 'config/ wire-format.ts',
    outside: `${texts} @portcullis/service-kit/http node:events node:inspector node:net node:process node:zlib`,
    types: '@portcullis/service-kit node:http',
  },
  'services.ts': {
    types: '**',
    because: 'It declares the services that are passed to the features.',
  },

  'http/**': {
    inside: `
      features/sessions/** features/redirects/** messages/** tokens/ telemetry/ limits/** db/ config/
      services.ts errors.ts`,
    outside: `${texts} @portcullis/service-kit/http fastify @fastify/ajv-compiler node:crypto node:dns node:events node:net node:stream`,
    types: '@portcullis/service-kit node:http',
  },
  // Flows use building blocks, never the reverse.
  'features/': {
    inside: `features/** ${Object.keys(endpoints).join(' ')}`,
    types: 'http/** messages/** services.ts',
  },
  ...endpointRows,
  'features/sign-up/**': { inside: `${blocks} ${below}`, outside: 'node:crypto', because: rules },
  'features/sign-in/**': {
    inside: `features/external/** ${blocks} ${below}`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/external/**': {
    inside: `features/account/** ${blocks} ${below}`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/custom-providers/**': {
    inside: `${blocks} ${below} outgoing/`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/web3/**': {
    inside: `features/external/** ${blocks} ${below}`,
    outside: '@noble/curves @noble/hashes @scure/base node:crypto',
    because: rules,
  },
  'features/recovery/**': { inside: `features/account/** ${blocks} ${below}`, because: rules },
  'features/account/**': { inside: `${blocks} ${below}`, because: rules },
  'features/admin/**': {
    inside: `${blocks} ${below}`,
    outside: '@portcullis/service-kit node:crypto',
    because: rules,
  },
  'features/oauth-clients/**': {
    inside: `${blocks} ${below}`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/scim/**': {
    inside: `features/external/** features/sso/** ${blocks} ${below}`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/sso/**': {
    inside: `features/external/** ${blocks} ${below} saml/`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/api-keys/**': {
    inside: `${blocks} ${below}`,
    outside: 'node:crypto node:net node:zlib',
    because: rules,
  },
  'features/revocations/**': {
    inside: `${blocks} ${below}`,
    outside: texts,
    types: '@portcullis/service-kit',
    because: rules,
  },
  'features/oauth-server/**': {
    inside: `features/oauth-clients/** features/api-keys/** features/sso/** ${blocks} ${below} outgoing/ template/`,
    outside: `${texts} node:crypto`,
    because: rules,
  },
  'features/server/**': {
    inside: `features/users/** ${below} db/migrate/`,
    outside: texts,
    types: '@portcullis/service-kit',
    because: rules,
  },

  'features/one-time-codes/**': {
    inside: `${blocks} ${below}`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/factors/**': {
    inside: `${blocks} ${below}`,
    outside: 'node:crypto',
    types: '@portcullis/service-kit',
    because: rules,
  },
  'features/passkeys/**': {
    inside: `${blocks} ${below}`,
    outside: '@simplewebauthn/server node:crypto',
    because: rules,
  },
  'features/sessions/**': {
    inside: `${blocks} ${below}`,
    outside: '@portcullis/service-kit node:crypto',
    because: rules,
  },
  'features/redirects/**': { inside: `${blocks} ${below}`, because: rules },
  'features/audit/**': {
    inside: `${blocks} ${below}`,
    outside: '@portcullis/service-kit node:crypto',
    because: rules,
  },
  'features/user-changes/**': {
    inside: `${blocks} ${below}`,
    outside: 'node:crypto',
    because: rules,
  },
  'features/users/**': {
    inside: `${blocks} ${below} db/connection/`,
    outside: 'node:crypto',
    because: rules,
  },
  'messages/**': {
    inside: `
      ${blocks} plugins/** template/ tokens/ limits/** outgoing/ db/ config/ config/limits/
      config/mail/ services.ts addresses.ts stored-json.ts errors.ts`,
    outside: '@portcullis/service-kit nodemailer node:crypto node:fs node:path node:timers',
  },
  'import/': {
    inside: 'import/** db/ db/backup/ db/connection/ db/schema/',
    outside: `${texts} node:crypto node:fs node:perf_hooks node:stream`,
    types: 'tokens/ pg',
    because: 'It copies rows between databases, and does not depend on the running server.',
  },
  'import/statements/': {},
  'import/file/': {
    inside: 'import/',
    outside: `${texts} node:crypto node:readline`,
    types: 'node:stream',
  },
  'export/': {
    inside:
      'import/ import/statements/ import/supabase/ export/statements/ db/ db/backup/ db/connection/ db/schema/',
    outside: 'otpauth node:perf_hooks node:stream',
    types: 'tokens/ pg',
  },
  'export/statements/': {},
  'import/supabase/': {
    inside: 'import/ import/statements/ tokens/ db/ db/connection/ saml/',
    outside: `${texts} otpauth node:crypto`,
    types: 'pg',
  },
  'tokens/': {
    inside: 'db/ stored-json.ts errors.ts',
    outside: `${texts} node:crypto node:perf_hooks`,
    types: '@portcullis/service-kit',
  },
  'passwords/': {
    inside: 'passwords/formats/ stored-json.ts errors.ts',
    outside: `${texts} node:crypto node:timers`,
    types: 'tokens/ @portcullis/service-kit',
  },
  'passwords/formats/': { outside: '@node-rs/argon2 @node-rs/bcrypt node:crypto node:util' },

  'plugins/providers/**': {
    inside: 'outgoing/ config/checks.ts config/variables.ts addresses.ts stored-json.ts errors.ts',
    outside: '@portcullis/service-kit jose node:crypto',
    because:
      'A provider describes one service and its settings, and does not depend on the code that uses it.',
  },
  'plugins/hooks/': {
    inside: 'outgoing/ config/checks.ts config/variables.ts db/ errors.ts',
    outside: '@portcullis/service-kit node:crypto node:https node:net node:timers',
    types: 'features/** tokens/ node:http',
  },
  'plugins/factors/': {
    inside: `
      features/passkeys/** features/factors/** messages/** config/checks.ts config/variables.ts
      addresses.ts stored-json.ts errors.ts`,
    outside: '@portcullis/service-kit otpauth uqr',
    types: 'features/users/** tokens/ db/ config/',
    because: 'A kind has its settings in its file, so it cannot import the services.',
  },
  'plugins/**': {
    inside: 'config/checks.ts config/variables.ts addresses.ts errors.ts',
    outside: '@portcullis/service-kit',
    types: 'outgoing/',
  },
  'template/': {},
  'saml/': {
    outside: '@xmldom/xmldom saxes xml-crypto node:crypto node:module node:zlib',
    because: 'It checks documents, and does not depend on requests, tables or the environment.',
  },

  'limits/**': {
    inside: 'config/ config/limits/ wire-format.ts errors.ts',
    outside: '@portcullis/grpc-unary @portcullis/service-kit @redis/client node:net node:timers',
  },
  'outgoing/': {
    outside: `${texts} @portcullis/service-kit/http node:dns node:https node:net`,
    types: 'node:http',
  },
  'telemetry/': {
    outside: `
      @grpc/grpc-js @opentelemetry/* @portcullis/service-kit/metrics ${texts} node:async_hooks node:crypto
      node:diagnostics_channel node:fs node:module node:perf_hooks node:process node:v8`,
    types: 'features/** passwords/ db/ config/ errors.ts @portcullis/service-kit node:http',
  },
  'config/': {
    inside: `
      config/checks.ts config/limits/ config/mail/ config/variables.ts plugins/** tokens/ passwords/formats/ saml/ db/
      db/connection/ errors.ts`,
    outside: '@portcullis/service-kit node:crypto node:fs node:net node:os node:url',
  },
  'config/limits/': {
    inside: 'config/checks.ts config/variables.ts',
    outside: '@portcullis/service-kit',
  },
  'config/mail/': {
    inside: 'config/checks.ts config/variables.ts outgoing/',
    outside: '@portcullis/service-kit node:net',
  },
  'config/checks.ts': {
    inside: 'template/',
    outside: 'node:net',
    types: '@portcullis/service-kit',
    because: 'Plug-ins check their settings with it.',
  },
  'config/variables.ts': {
    outside: '@portcullis/service-kit',
    because: 'Plug-ins declare their settings with it.',
  },

  'db/': {
    inside: 'db/connection/',
    outside: `${texts} pg pg-copy-streams node:crypto node:perf_hooks node:stream`,
    types: 'stored-json.ts @portcullis/service-kit',
    because: 'The database layer contains rows and statements, and does not depend on its callers.',
  },
  'db/connection/': {
    inside: 'db/ errors.ts',
    outside: `${texts} pg node:crypto node:fs node:timers node:tls`,
    types: '@portcullis/service-kit',
  },
  'db/migrate/': {
    inside: 'db/ db/connection/ db/schema/',
    outside: `${texts} node:crypto node:fs node:os node:path node:timers`,
    types: 'pg',
  },
  'db/schema/': {
    inside: 'db/ db/connection/ db/migrate/',
    outside: 'node:fs node:path',
    types: 'pg @portcullis/service-kit',
  },
  'db/backup/': {
    inside: 'db/ db/connection/ db/migrate/',
    outside: `${texts} pg-copy-streams node:crypto node:fs node:path node:stream node:zlib`,
    types: 'pg',
  },
  'db/embedded/': {
    inside: 'db/connection/',
    outside: `
      @portcullis/service-kit node:child_process node:events node:fs node:os node:path node:readline
      node:timers node:url node:util`,
    types: 'node:stream',
  },

  'dpop/': {
    outside: 'jose',
    because:
      'The server and the verifier check proofs with it, and the verifier runs in other programs.',
  },
  'verify/**': {
    inside: 'dpop/',
    outside: `${texts} jose node:http node:perf_hooks node:timers`,
    types: 'fastify',
    because: 'The verifier runs in other programs, without the auth server.',
  },
  'explain-failure.ts': { outside: texts },
  'addresses.ts': { inside: 'errors.ts' },
  'stored-json.ts': { inside: 'errors.ts' },
  'errors.ts': {},
  'wire-format.ts': { outside: '@bufbuild/protobuf' },
}

export const authFolders: FolderRules = {
  // Endpoints use http/, which uses the rules of sessions to find the caller. A kind of factor uses the
  // statements of factors, whose rules use the list of kinds.
  folders: ['features/*/endpoints', 'features/factors/statements', 'features/*', 'plugins/*', '*'],
  apart: ['app.ts', 'generation.ts', 'services.ts', 'config/config.ts'],
}
