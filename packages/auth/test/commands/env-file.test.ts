import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseEnvFile } from '../../src/commands/read-config.ts'

const read = (text: string) => parseEnvFile(text).variables

test('names and values are parsed in all common notations', () => {
  const text = '\uFEFFA=1\r\n# comment\r\n\r\nexport B = two words \r\n  C=a=b&c\r\nD=\r\nE_1.x-y=z'
  const variables = { A: '1', B: 'two words', C: 'a=b&c', D: '', 'E_1.x-y': 'z' }
  assert.deepEqual(parseEnvFile(text), { variables, unread: [] })
})

test('a # starts a comment only after a space', () => {
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

test('quotes preserve their content, also over several lines, and an unpaired quote is literal', () => {
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

test('the numbers of invalid lines are returned, and the last of several values is used', () => {
  const text = 'A=1\nnot a line\n=x\nB: 2\n\nA=3\n'
  assert.deepEqual(parseEnvFile(text), { variables: { A: '3' }, unread: [2, 3, 4] })
})
