import assert from 'node:assert/strict'
import { test } from 'node:test'
import { usesColor } from '@portcullis/service-kit/cli/command'
import { dispatch, type Program } from '@portcullis/service-kit/cli/dispatch'

function createExample() {
  const seen: (readonly string[])[] = []
  const loaded: string[] = []
  const program: Program = {
    name: 'tool',
    version: '1.2.3',
    summary: 'Does things.',
    commands: {
      go: async () => {
        loaded.push('go')
        return {
          summary: 'go somewhere',
          usage: 'Usage: tool go PLACE',
          run: async (args) => {
            seen.push(args)
            return 7
          },
        }
      },
      wait: async () => {
        loaded.push('wait')
        return { summary: 'wait a bit', usage: 'Usage: tool wait\n', run: async () => 0 }
      },
    },
  }
  const run = async (...args: string[]) => {
    let stdout = ''
    let stderr = ''
    const code = await dispatch(program, args, {
      stdout: { write: (text) => (stdout += text) },
      stderr: { write: (text) => (stderr += text) },
      env: {},
      isTerminal: false,
    })
    return { code, stdout, stderr }
  }
  return { run, seen, loaded }
}

const overview = `Usage: tool COMMAND [ARGUMENT…]

Does things.

Commands:
  go    go somewhere
  wait  wait a bit

tool COMMAND --help describes one command.
tool --version shows the version.
`

test('a command gets its arguments, and its result is the exit code', async () => {
  const { run, seen, loaded } = createExample()
  assert.deepEqual(await run('go', 'there', '-x'), { code: 7, stdout: '', stderr: '' })
  assert.deepEqual(seen, [['there', '-x']])
  assert.deepEqual(loaded, ['go'])
})

for (const args of [['--help'], ['-h'], ['help']]) {
  test(`${args.join(' ')} shows the commands`, async () => {
    assert.deepEqual(await createExample().run(...args), { code: 0, stdout: overview, stderr: '' })
  })
}

test('missing arguments are an error', async () => {
  assert.deepEqual(await createExample().run(), { code: 2, stdout: '', stderr: overview })
})

for (const args of [
  ['help', 'go'],
  ['go', '--help'],
  ['go', 'x', '-h'],
  ['--help', 'go'],
]) {
  test(`${args.join(' ')} shows the usage of the command`, async () => {
    const { run, seen } = createExample()
    assert.deepEqual(await run(...args), { code: 0, stdout: 'Usage: tool go PLACE\n', stderr: '' })
    assert.deepEqual(seen, [])
  })
}

test('arguments after -- are passed to the command', async () => {
  const { run, seen } = createExample()
  assert.equal((await run('go', '--', '--help')).code, 7)
  assert.deepEqual(seen, [['--', '--help']])
})

test('--version shows the version', async () => {
  assert.deepEqual(await createExample().run('--version'), {
    code: 0,
    stdout: '1.2.3\n',
    stderr: '',
  })
})

for (const name of ['fly', 'constructor']) {
  test(`${name} is not a command`, async () => {
    for (const args of [[name], ['help', name]]) {
      assert.deepEqual(await createExample().run(...args), {
        code: 2,
        stdout: '',
        stderr: `Unknown command "${name}". Commands: go, wait.\n`,
      })
    }
  })
}

test('colours are used on terminals unless the user disables them', () => {
  const io = { stdout: { write: () => {} }, stderr: { write: () => {} } }
  const color = (isTerminal: boolean, env: Record<string, string>) =>
    usesColor({ ...io, isTerminal, env })
  assert.equal(color(true, {}), true)
  assert.equal(color(true, { NO_COLOR: '' }), true)
  assert.equal(color(true, { NO_COLOR: '1' }), false)
  assert.equal(color(false, {}), false)
})

test('a similar name is suggested for a misspelled command or option', async () => {
  assert.match(
    (await createExample().run('wiat')).stderr,
    /Commands: go, wait\. Did you mean wait\?\n$/,
  )
  const program: Program = {
    name: 'tool',
    version: '1.2.3',
    summary: '',
    commands: {
      pick: async () => ({
        summary: '',
        usage: 'Usage: tool pick [--config FILE] [-domain NAME]\n\nSee: tool pick --help',
        async run(_args, io) {
          io.stderr.write('wrong; see tool pick --help\n')
          return 2
        },
      }),
      go: async () => ({
        summary: '',
        usage: 'Usage: tool go [--by MEANS]',
        async run(_args, io) {
          io.stderr.write('The place is missing.\nUnknown option --bx.\nSee: tool go --help\n')
          return 2
        },
      }),
    },
    toCall: (command) => `npx tool ${command}`,
  }
  const run = async (...args: string[]) => {
    let printed = ''
    const writer = { write: (text: string) => (printed += text) }
    await dispatch(program, args, { stdout: writer, stderr: writer, env: {}, isTerminal: false })
    return printed
  }
  const wrong = 'wrong; see npx tool pick --help\n'
  assert.equal(
    await run('pick', '--confg=x', '--domian', 'a', '--config', '--xyz', '--', '--conifg'),
    `${wrong}Did you mean --config instead of --confg?\nDid you mean -domain instead of --domian?\n`,
  )
  assert.equal(
    await run('go', '--bx'),
    'The place is missing.\nUnknown option --bx.\nDid you mean --by instead of --bx?\n' +
      'See: npx tool go --help\n',
    'before the reference to the help, once',
  )
  // The help shows the command as the user typed it.
  assert.equal(
    await run('pick', '--help'),
    'Usage: npx tool pick [--config FILE] [-domain NAME]\n\nSee: npx tool pick --help\n',
  )
  assert.match(await run('--help'), /^Usage: npx tool COMMAND .*npx tool --version shows/s)
})

test('a usage for files keeps the name of the program, except where it says how to call it', async () => {
  const usage = "Usage: tool print SHELL\n\n  echo 'tool print bash' >> ~/.bashrc\n"
  const program: Program = {
    name: 'tool',
    version: '1.2.3',
    summary: '',
    commands: {
      print: async () => ({
        summary: '',
        usage,
        keepsName: true,
        async run(_args, io) {
          io.stderr.write('Name a shell.\nSee: tool print --help\n')
          return 2
        },
      }),
    },
    toCall: (command) => `npx tool ${command}`,
  }
  const run = async (...args: string[]) => {
    let printed = ''
    const writer = { write: (text: string) => (printed += text) }
    await dispatch(program, args, { stdout: writer, stderr: writer, env: {}, isTerminal: false })
    return printed
  }
  const renamed = usage.replace('Usage: tool', 'Usage: npx tool')
  assert.equal(await run('print', '--help'), renamed)
  assert.equal(await run('print'), 'Name a shell.\nSee: npx tool print --help\n')
})
