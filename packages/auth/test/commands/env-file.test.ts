import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnvFile } from '../../src/commands/read-config.ts'

const read = (text: string) => parseEnvFile(text).variables

test('lines of names and values are read, whoever has written them', () => {
  const text = '\uFEFFA=1\r\n# comment\r\n\r\nexport B = two words \r\n  C=a=b&c\r\nD=\r\nE_1.x-y=z'
  const variables = { A: '1', B: 'two words', C: 'a=b&c', D: '', 'E_1.x-y': 'z' }
  assert.deepEqual(parseEnvFile(text), { variables, unread: [] })
})

test('a # is part of a password, and begins a comment behind a space only', () => {
  const text = ['A=pass#word', 'B=#5', 'C=x # y # z', 'D= # nothing', `E='a # b' # c`, 'F="#"#c']
  assert.deepEqual(read(text.join('\n')), {
    A: 'pass#word',
    B: '#5',
    C: 'x',
    D: '',
    E: 'a # b',
    F: '#',
  })
})

test('quotes keep what is between them, over several lines too, and one alone is no quote', () => {
  const text = [
    `A=' a\\n "b" $HOME '`,
    'B="a\\n\\"b\\" \\\\ \\:"',
    'C="one',
    'two" ',
    'D=`it\'s "so"`',
    `E='tis`,
    'F="a"b',
    'G=1',
  ]
  assert.deepEqual(read(text.join('\n')), {
    A: ' a\\n "b" $HOME ',
    B: 'a\n"b" \\ \\:',
    C: 'one\ntwo',
    D: `it's "so"`,
    E: `'tis`,
    F: '"a"b',
    G: '1',
  })
})

test('lines that are no variables are counted, and the last of several values counts', () => {
  const text = 'A=1\nnot a line\n=x\nB: 2\n\nA=3\n'
  assert.deepEqual(parseEnvFile(text), { variables: { A: '3' }, unread: [2, 3, 4] })
})
