import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseOptions } from '../src/options.ts'

test('the site is served on port 5173 by default', () => {
  assert.deepEqual(parseOptions([]), { verb: 'serve', port: 5173, out: undefined, base: '/' })
})

test('port, output folder and base path are options', () => {
  assert.deepEqual(parseOptions(['build', '--out', 'x', '--base=/docs/', '--port', '0']), {
    verb: 'build',
    port: 0,
    out: 'x',
    base: '/docs/',
  })
  assert.equal(parseOptions(['--help']), 'help')
})

test('invalid arguments are reported', () => {
  const faults = [
    ['bild'],
    ['build', 'x'],
    ['--port', 'x'],
    ['--port', '65536'],
    ['--base', 'docs'],
    ['--prot', '1'],
  ]
  assert.deepEqual(
    faults.map((args) => parseOptions(args)),
    [
      { fault: 'Unknown verb "bild". Verbs: serve, build. Did you mean build?' },
      { fault: 'Unexpected argument "x".' },
      { fault: '--port must be a port from 0 to 65535, not "x".' },
      { fault: '--port must be a port from 0 to 65535, not "65536".' },
      { fault: '--base must be a path that begins and ends with /, not "docs".' },
      { fault: 'Unknown option --prot.' },
    ],
  )
})
