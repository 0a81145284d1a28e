import type { PackageTable } from '../table.ts'

const preact = 'preact preact-iso'
const reason = '@portcullis/service-kit/reason'

export const portcullis: PackageTable = {
  'main.ts': { inside: 'commands/', outside: '@portcullis/service-kit node:module node:process' },
  'commands/': {
    inside: 'up/ completion/** console/console.ts console/health/ find-program.ts',
    outside: `
      @portcullis/service-kit node:crypto node:fs node:path node:url node:util process.env import(…)`,
    types: 'console/',
  },
  'completion/**': {
    outside: '@portcullis/service-kit',
    because: 'Trees are built from the tables that commands pass in.',
  },

  'up/': {
    inside: 'up/parts/ completion/** find-program.ts',
    outside: `
      @portcullis/service-kit jose node:child_process node:crypto node:events node:fs node:net node:os
      node:path node:readline node:timers node:util node:worker_threads`,
    types: 'mailbox/ node:http',
  },
  'up/parts/': {
    inside: 'up/ api/ mailbox/ console/console.ts console/health/',
    outside: 'node:crypto node:events node:http node:net node:path',
  },

  'api/': {
    outside: '@portcullis/auth/verify @portcullis/graphql-over-http/use/http graphql',
    types: 'node:http',
    because: 'A part does not depend on the code that starts or displays it.',
  },
  'mailbox/': {
    outside: `
      @portcullis/service-kit postal-mime smtp-server node:crypto node:events node:fs node:http node:net
      node:path node:worker_threads`,
    because: 'A part does not depend on the code that starts or displays it.',
  },

  'console/console.ts': {
    inside: 'console/routes/ console/',
    outside: 'fastify node:net',
    because:
      'The console receives what it displays, and does not depend on the code that starts it.',
  },
  'console/routes/': {
    inside: 'console/overview/ console/limits/ console/health/ console/ mailbox/',
    outside: '@portcullis/graphql-over-http node:crypto node:fs node:path node:url import(…)',
    types: 'fastify',
  },
  'console/overview/': { inside: 'console/health/ console/', outside: `${reason} node:timers` },
  'console/limits/': {
    inside: 'console/',
    outside: `@portcullis/ratelimit/rules ${reason} node:crypto node:fs node:path node:timers`,
    types: 'fastify',
  },
  'console/health/': { inside: 'console/' },
  'console/': {
    outside: `
      ${reason} node:crypto node:fs node:net node:path node:url node:util node:zlib ../bundle/ import(…)`,
    types: 'fastify mailbox/',
  },

  'web/': {
    inside: 'web/components/ web/pages/ web/shell/',
    outside: preact,
    types: 'console/routes/',
    because:
      'The page runs in a browser: it depends on the types of responses, but not on a server.',
  },
  'web/pages/': { inside: 'web/components/ web/pages/{each}/**', outside: preact },
  'web/pages/{each}/**': {
    inside: 'web/ web/components/',
    outside: `${preact} @supabase/auth-js`,
    types: 'console/routes/',
    because: 'A page does not depend on other pages.',
  },
  'web/shell/': {
    inside: 'web/ web/components/ web/pages/ web/pages/{each}/**',
    outside: preact,
    types: 'console/routes/',
    because: 'The command palette finds what the pages show.',
  },
  'web/components/': { inside: 'web/ web/components/chart/', outside: preact },
  'web/components/chart/': { inside: 'web/ web/components/', outside: preact },

  'find-program.ts': { outside: 'node:fs node:url' },
}
