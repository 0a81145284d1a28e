import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import { boundaries } from '../boundaries/allowed-imports/index.ts'
import { findStaleNames, findViolations } from '../boundaries/find-violations.ts'
import { readSources } from '../boundaries/read-sources.ts'

const root = dirname(dirname(import.meta.dirname))

interface Plant {
  /** The path below `packages/`. */
  readonly file: string
  readonly code: string
  /** The position and the start of the text of each violation, in order. */
  readonly reports: readonly string[]
}

const plants: Readonly<Record<string, Plant>> = {
  'an endpoint imports the database driver': {
    file: 'auth/src/features/sign-up/planted.ts',
    code: "import pg from 'pg'\n\nexport const pool = new pg.Pool()\n",
    reports: ['1:16 features/sign-up/planted.ts imports pg.'],
  },
  'a provider imports an endpoint and the database': {
    file: 'auth/src/plugins/providers/planted.ts',
    code:
      "import { signUp } from '../../features/sign-up/sign-up.ts'\n" +
      "import { query } from '../../db/query.ts'\n",
    reports: [
      '1:24 plugins/providers/planted.ts imports features/sign-up/sign-up.ts, of features/sign-up/**.',
      '2:23 plugins/providers/planted.ts imports db/query.ts, of db/.',
    ],
  },
  'a building block imports a flow, and a rule imports the server': {
    file: 'auth/src/features/users/planted.ts',
    code:
      "import { signUp } from '../sign-up/sign-up.ts'\n" +
      "import { createServer } from '../../http/server.ts'\n",
    reports: [
      '1:24 features/users/planted.ts imports features/sign-up/sign-up.ts, of features/sign-up/**.',
      '2:30 features/users/planted.ts imports http/server.ts, of http/**.',
    ],
  },
  'a rule imports an endpoint of its feature': {
    file: 'auth/src/features/sessions/planted.ts',
    code: "import { logout } from './endpoints.ts'\n",
    reports: [
      '1:24 features/sessions/planted.ts imports features/sessions/endpoints.ts, which has its own row.',
    ],
  },
  'an endpoint of a building block imports a flow': {
    file: 'auth/src/features/sessions/endpoints.ts',
    code: "import { signUp } from '../sign-up/sign-up.ts'\n",
    reports: [
      '1:24 features/sessions/endpoints.ts imports features/sign-up/sign-up.ts, of features/sign-up/**.',
    ],
  },
  'an endpoint of a flow imports a flow that comes after it': {
    file: 'auth/src/features/external/endpoints/planted.ts',
    code: "import { token } from '../../sign-in/endpoints/token.ts'\n",
    reports: [
      '1:23 features/external/endpoints/planted.ts imports features/sign-in/endpoints/token.ts, of features/sign-in/endpoints/.',
    ],
  },
  'middleware imports a Redis driver and the configuration': {
    file: 'ratelimit/src/middleware/planted.ts',
    code: "import { createClient } from '@redis/client'\nexport * from '../config/config.ts'\n",
    reports: [
      '1:30 middleware/planted.ts imports @redis/client.',
      '2:15 middleware/planted.ts imports config/config.ts, of config/**.',
    ],
  },
  'middleware imports our own Redis store': {
    file: 'ratelimit/src/middleware/planted.ts',
    code: "import { openRedisStore } from '../counters/redis/redis-store.ts'\n",
    reports: ['1:32 middleware/planted.ts imports counters/redis/redis-store.ts, of counters/**.'],
  },
  'a replay imports the app and reads the environment': {
    file: 'ratelimit/src/tools/replay/planted.ts',
    code: "const { openApp } = await import('../../app/app.ts')\n\nopenApp(process.env)\n",
    reports: [
      '1:34 tools/replay/planted.ts imports app/app.ts, of app/**.',
      '3:9 tools/replay/planted.ts reads process.env.',
    ],
  },
  'a decision imports the decoder of the wire': {
    file: 'ratelimit/src/decide/planted.ts',
    code: "import { decodeRequest } from '../protocol/decode.ts'\n",
    reports: ['1:31 decide/planted.ts imports protocol/decode.ts, of protocol/**.'],
  },
  'the app imports a file behind the interface of hot': {
    file: 'ratelimit/src/app/planted.ts',
    code: "import { RequestCache } from '../hot/request-cache.ts'\n",
    reports: ['1:30 app/planted.ts imports hot/request-cache.ts, of hot/.'],
  },
  'statistics import hot, and read the rules': {
    file: 'ratelimit/src/stats/planted.ts',
    code:
      "import { RuleTable } from '../hot/index.ts'\n" +
      "import type { RuleFault } from '../rules/model/fault.ts'\n",
    reports: [
      '1:27 stats/planted.ts imports hot/index.ts, which has its own row.',
      '2:32 stats/planted.ts imports rules/model/fault.ts, of rules/model/**.',
    ],
  },
  'a store imports hot': {
    file: 'ratelimit/src/counters/memory/planted.ts',
    code: "import { KeyTemplate } from '../../hot/index.ts'\n",
    reports: ['1:29 counters/memory/planted.ts imports hot/index.ts, which has its own row.'],
  },
  'a memory structure imports the type of a store': {
    file: 'ratelimit/src/structures/planted.ts',
    code: "import type { EncodedKey } from '../counters/counter-store.ts'\n",
    reports: ['1:33 structures/planted.ts imports counters/counter-store.ts, of counters/.'],
  },
  'the reader of YAML imports the type of a fault in rules': {
    file: 'ratelimit/src/yaml/planted.ts',
    code: "import type { RuleFault } from '../rules/model/fault.ts'\n",
    reports: ['1:32 yaml/planted.ts imports rules/model/fault.ts, of rules/model/**.'],
  },
  'the core of the library imports an adapter': {
    file: 'graphql-over-http/src/handler.ts',
    code: "import { createHandler } from './adapters/http.ts'\n",
    reports: ['1:31 handler.ts imports adapters/http.ts, of adapters/.'],
  },
  'an adapter imports the code of a host instead of its types': {
    file: 'graphql-over-http/src/adapters/planted.ts',
    code: "import type { FastifyRequest } from 'fastify'\nimport fastify from 'fastify'\n",
    reports: ['2:21 adapters/planted.ts imports fastify.'],
  },
  'an audit imports the type of an option': {
    file: 'graphql-over-http/src/audits/planted.ts',
    code: "import { type Options } from '../options.ts'\n",
    reports: ['1:30 audits/planted.ts imports options.ts, which has its own row.'],
  },
  'the kit imports a server': {
    file: 'service-kit/src/text/planted.ts',
    code: "export { openApp } from '@portcullis/auth'\n",
    reports: ['1:25 text/planted.ts imports @portcullis/auth.'],
  },
  'a module imports another package by its path': {
    file: 'portcullis/src/up/planted.ts',
    code: "import { log } from '../../../service-kit/src/log/log.ts'\n",
    reports: ['1:21 up/planted.ts imports packages/service-kit/src/log/log.ts of another package'],
  },
  'a page of the console imports another page': {
    file: 'portcullis/src/web/pages/users/panel/planted.tsx',
    code: "export { MailboxCount } from '../../mailbox/mailbox-count.tsx'\nexport * from '../users-page.tsx'\n",
    reports: [
      '1:30 web/pages/users/panel/planted.tsx imports web/pages/mailbox/mailbox-count.tsx, of web/pages/{each}/**.',
    ],
  },
  'a page of the console imports a server and a built-in module': {
    file: 'portcullis/src/web/pages/users/planted.tsx',
    code:
      "import type { Console } from '../../../console/console.ts'\n" +
      "import { readFileSync } from 'node:fs'\n\nexport const page = <p>{readFileSync}</p>\n",
    reports: [
      '1:30 web/pages/users/planted.tsx imports console/console.ts, which has its own row.',
      '2:30 web/pages/users/planted.tsx imports node:fs.',
    ],
  },
  'the frames import gRPC': {
    file: 'grpc-unary/src/http2/planted.ts',
    code: "let call: import('../grpc/call.ts').Call\n",
    reports: ['1:18 http2/planted.ts imports grpc/call.ts, of grpc/.'],
  },
  'a thread is started from a forbidden folder': {
    file: 'portcullis/src/api/planted.ts',
    code: "const thread = new Worker(new URL('../mailbox/mail-worker.ts', import.meta.url))\n",
    reports: ['1:35 api/planted.ts imports mailbox/mail-worker.ts, of mailbox/.'],
  },
  'a process is started from a forbidden folder': {
    file: 'portcullis/src/api/planted.ts',
    code: "const program = join(import.meta.dirname, '..', 'up', 'run-up.ts')\n",
    reports: ['1:43 api/planted.ts imports up/run-up.ts, of up/.'],
  },
  'require and a computed import are checked too': {
    file: 'service-kit/src/text/planted.ts',
    code:
      "const pg = createRequire(import.meta.url)('pg')\nconst redis = require('redis')\n" +
      'const other = await import(name)\n',
    reports: [
      '1:43 text/planted.ts imports pg.',
      '2:23 text/planted.ts imports redis.',
      '3:28 text/planted.ts imports import(…).',
    ],
  },
  'every way to read the environment is refused outside main.ts and the commands': {
    file: 'portcullis/src/mailbox/planted.ts',
    code:
      "import { env } from 'node:process'\nconst port = process.env.PORT\n" +
      "const home = process['env']\nconst { env: own } = process\nglobalThis.process.env\n",
    reports: [
      '1:1 mailbox/planted.ts reads process.env.',
      '1:21 mailbox/planted.ts imports node:process.',
      '2:14 mailbox/planted.ts reads process.env.',
      '3:14 mailbox/planted.ts reads process.env.',
      '4:7 mailbox/planted.ts reads process.env.',
      '5:1 mailbox/planted.ts reads process.env.',
    ],
  },
  'the environment is never written, not even by a command': {
    file: 'portcullis/src/commands/planted.ts',
    code:
      "process.env.PORT = '1'\nprocess.env['PORT'] ??= '1'\ndelete process.env.PORT\n" +
      'Object.assign(process.env, {})\nprocess.loadEnvFile()\nconsole.log(process.env.PORT)\n',
    reports: [1, 2, 3, 4, 5].map(
      (line) => `${line}:${{ 3: 8, 4: 15 }[line] ?? 1} commands/planted.ts writes process.env.`,
    ),
  },
  'a new folder has no row': {
    file: 'graphql-over-http/src/helpers/planted.ts',
    code: 'export const helper = 1\n',
    reports: ['1:1 packages/graphql-over-http/src/helpers/planted.ts belongs to no row of'],
  },
  'a new package has no list': {
    file: 'gateway/src/main.ts',
    code: 'export const gateway = 1\n',
    reports: ['1:1 packages/gateway/src/main.ts belongs to no row of'],
  },
}

for (const [name, { file, code, reports }] of Object.entries(plants)) {
  test(`refused: ${name}`, () => {
    const found = findViolations(new Map([[`packages/${file}`, code]]), boundaries)
    const texts = found.map(({ line, column, text }) => `${line}:${column} ${text}`)
    assert.deepEqual(
      texts.map((text, index) => text.slice(0, reports[index]?.length)),
      reports,
      texts.join('\n'),
    )
    for (const violation of found) {
      assert.equal(violation.file, `packages/${file}`)
      assert.ok(violation.fix.length > 20, violation.fix)
    }
  })
}

test('a report says what is allowed, why, and which modules may do it', () => {
  const source = "import { createHandler } from './adapters/http.ts'\nimport pg from 'pg'\n"
  const sources = new Map([['packages/graphql-over-http/src/params.ts', source]])
  const [inside, outside] = findViolations(sources, boundaries)
  assert.match(inside?.allowed ?? '', /params\.ts may import: negotiate\.ts, request\.ts\./)
  assert.match(inside?.fix ?? '', /add adapters\/ to params\.ts in .+\/graphql-over-http\.ts/)
  assert.match(outside?.fix ?? '', /No module of graphql-over-http may import it\./)
  const endpoint = new Map([
    ['packages/auth/src/features/sign-up/sign-up.ts', "import pg from 'pg'\n"],
  ])
  const [driver] = findViolations(endpoint, boundaries)
  assert.match(driver?.allowed ?? '', /Rules do not import drivers/)
  assert.match(driver?.fix ?? '', /Use it through db\//)
})

test('text in comments, strings and templates is not an import', () => {
  const code =
    "/** import { pool } from 'pg' */\nexport const help = `\nimport pg from 'pg'\n`\n" +
    '// process.env\nexport const text = "Import it from \'pg\'."\n'
  const sources = new Map([['packages/auth/src/features/planted.ts', code]])
  assert.deepEqual(findViolations(sources, boundaries), [])
})

test('the code follows the lists, and the lists contain no obsolete names', () => {
  const sources = readSources(root)
  assert.ok(sources.size > 500)
  assert.deepEqual(findViolations(sources, boundaries), [])
  assert.deepEqual(findStaleNames(sources.keys(), boundaries), [])
})
