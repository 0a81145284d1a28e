import type { PackageTable } from '../table.ts'

const preact = 'preact preact-iso'
const codeMirror = '@codemirror @lezer'
const texts = '@portcullis/service-kit/text'

export const portcullis: PackageTable = {
  'main.ts': { inside: 'commands/', outside: '@portcullis/service-kit node:module node:process' },
  'commands/': {
    inside: `
      commands/users/ commands/access/ commands/admin/ up/ completion/** console/console.ts console/events/ console/health/
      console/limits/ web/audit-sentences.ts find-program.ts`,
    outside: `
      @portcullis/service-kit node:crypto node:fs node:path node:process node:readline node:stream node:url node:util
      process.env import(…)`,
    types: 'console/',
  },
  'commands/users/': {
    inside: 'commands/ commands/admin/ up/ up/parts/',
    outside: '@portcullis/service-kit',
    types: 'console/routes/',
  },
  'commands/access/': {
    inside: 'commands/admin/ commands/users/',
    outside: '@portcullis/service-kit node:fs node:process node:stream',
    types: 'console/routes/',
  },
  'commands/admin/': {
    inside: 'commands/ up/ completion/** console/health/',
    outside: '@portcullis/service-kit node:process node:readline node:util',
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
    outside:
      '@portcullis/auth/verify @portcullis/service-kit/http node:crypto node:events node:net node:path',
    types: '@portcullis/service-kit',
  },

  'api/': {
    outside: '@portcullis/auth/verify @portcullis/graphql-over-http/use/http graphql',
    types: 'node:http',
    because: 'A part does not depend on the code that starts or displays it.',
  },
  'mailbox/': {
    outside: `
      @portcullis/service-kit postal-mime smtp-server node:crypto node:events node:fs node:net node:path
      node:worker_threads`,
    types: 'node:http',
    because: 'A part does not depend on the code that starts or displays it.',
  },

  'console/console.ts': {
    inside: 'console/routes/ console/',
    outside: 'fastify node:net',
    because:
      'The console receives what it displays, and does not depend on the code that starts it.',
  },
  'console/routes/': {
    inside: 'console/events/ console/overview/ console/limits/ console/health/ console/ mailbox/',
    outside:
      '@portcullis/graphql-over-http graphql node:crypto node:fs node:path node:url import(…)',
    types: 'fastify @portcullis/service-kit',
  },
  'console/events/': {
    inside: 'console/overview/ console/health/ console/',
    outside: `${texts} node:timers`,
  },
  'console/overview/': { inside: 'console/health/ console/', outside: `${texts} node:timers` },
  'console/limits/': {
    inside: 'console/',
    outside: `
      @portcullis/ratelimit/rules ${texts} yaml node:crypto node:fs node:path node:timers node:util`,
    types: 'fastify',
  },
  'console/health/': { inside: 'console/' },
  'console/': {
    outside: `
      ${texts} node:crypto node:fs node:net node:path node:timers node:url node:util
      node:zlib ../bundle/ import(…)`,
    types: 'fastify mailbox/ @portcullis/service-kit',
  },

  'web/audit-sentences.ts': {
    inside: 'web/',
    types: 'console/routes/',
    because: 'The terminal prints the same sentences as the pages.',
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
    inside: `
      web/ web/components/ web/components/editor/ web/components/editor/yaml/ web/audit-sentences.ts`,
    outside: `
      ${preact} @supabase/auth-js ${codeMirror} cm6-graphql graphql @portcullis/ratelimit/schema`,
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
  'web/components/editor/': {
    inside: 'web/components/ web/components/editor/yaml/',
    outside: `${preact} ${codeMirror}`,
    because:
      'An editor is loaded on demand, so only this folder and the languages of pages import it.',
  },
  'web/components/editor/yaml/': { outside: codeMirror },

  'find-program.ts': { outside: 'node:fs node:url' },
}
