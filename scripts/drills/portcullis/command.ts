import assert from 'node:assert/strict'
import type { Drill } from '../drill.ts'

type Commands = typeof import('../../../packages/portcullis/src/commands/index.ts')
type Completion = typeof import('../../../packages/portcullis/src/commands/completion.ts')
type Shells = typeof import('../../../packages/portcullis/src/completion/shells/index.ts')

export const command: Drill = {
  kind: 'command',
  package: 'portcullis',
  file: 'src/commands/pigeon.ts',
  source: `
import type { CompletableCommand } from '../completion/command-tree.ts'
import { toCommandOptions, toHelpLines } from '../completion/option-table.ts'

const options = { grain: { value: 'KIND', meaning: 'what it is fed with' } }

export const pigeon: CompletableCommand = {
  summary: 'send a pigeon',
  usage: \`Usage: portcullis pigeon [OPTION…]\\n\\nOptions:\\n\${toHelpLines(options)}\\n\`,
  completion: { options: toCommandOptions(options) },
  async run() {
    return 0
  },
}
`,
  exported: 'pigeon',
  index: {
    file: 'src/commands/index.ts',
    list: 'commands',
    entry: 'pigeon: async () => pigeon',
  },
  help: ['pigeon send a pigeon'],
  async prove(copy) {
    const { createCommands } = await copy.load<Commands>('src/commands/index.ts')
    const { createPrograms } = await copy.load<Completion>('src/commands/completion.ts')
    const { shells } = await copy.load<Shells>('src/completion/shells/index.ts')
    const tree = await createPrograms(createCommands('1.2.3'))['portcullis']?.()
    assert.ok(tree)
    for (const [shell, toScript] of Object.entries(shells)) {
      assert.match(toScript('portcullis', tree), /grain/, shell)
    }
  },
}
