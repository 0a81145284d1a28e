import type { CommandNode } from '../command-tree.ts'

export const graphqlTree: CommandNode = {
  summary: 'audit a GraphQL server',
  commands: {
    audit: {
      summary: 'check a running server for compliance',
      options: [
        { flags: ['--header'], summary: 'send this header with every request', value: 'any' },
        {
          flags: ['--profile'],
          summary: 'status codes to expect',
          value: { choices: ['classic', '2026'] },
        },
        { flags: ['--extended'], summary: 'add stricter variants of weak audits' },
        { flags: ['--json'], summary: 'print the results as JSON, and nothing else' },
        { flags: ['--html'], summary: 'write a report page to this file', value: 'file' },
        {
          flags: ['--fail-on'],
          summary: 'exit with code 1 on results of this severity',
          value: { choices: ['error', 'warn'] },
        },
        { flags: ['--timeout'], summary: 'seconds to wait for each response', value: 'any' },
      ],
      operands: 'any',
    },
  },
}
