import assert from 'node:assert/strict'
import { dispatch } from '@portcullis/service-kit/cli/dispatch'
import type { Drill } from '../drill.ts'

type CommandsModule = typeof import('../../../packages/ratelimit/src/commands/index.ts')

export const command: Drill = {
  kind: 'command',
  package: 'ratelimit',
  file: 'src/commands/toll.ts',
  source: `
import type { Command } from '@portcullis/service-kit/cli/command'

export const toll: Command = {
  summary: 'say what a crossing costs',
  usage: 'Usage: ratelimit toll [--bridge NAME]\\n\\nOptions:\\n  --bridge NAME  the bridge to cross\\n',
  async run(args, io) {
    io.stdout.write(\`two coins for \${args.join(' ')}\\n\`)
    return 0
  },
}
`,
  index: {
    file: 'src/commands/index.ts',
    list: 'commands',
    entry: "toll: async () => (await import('./toll.ts')).toll",
  },
  help: [],
  async prove(copy) {
    const { commands } = await copy.load<CommandsModule>('src/commands/index.ts')
    const print = async (...args: string[]) => {
      let printed = ''
      const stdout = { write: (text: string) => (printed += text) }
      const io = { stdout, stderr: stdout, env: {}, isTerminal: false }
      const program = { name: 'ratelimit', version: '1.2.3', summary: '', commands }
      assert.equal(await dispatch(program, args, io), 0)
      return printed
    }
    assert.match(await print('--help'), /^ {2}toll +say what a crossing costs$/m)
    assert.match(await print('toll', '--help'), /^ {2}--bridge NAME /m)
    assert.equal(await print('toll', 'London'), 'two coins for London\n')
  },
}
