import assert from 'node:assert/strict'
import { test } from 'node:test'
import { choice, duration, list, string } from '@portcullis/service-kit/settings/env'
import { toHelpText, toMarkdown } from '@portcullis/service-kit/settings/settings-help'

const chapters = {
  first: {
    title: 'First',
    variables: {
      wait: duration('WAIT', '1h30m', 'How long to wait'),
      level: choice('LEVEL', ['low', 'high'], 'low', 'How much | how little', { aliases: ['LVL'] }),
    },
  },
  second: {
    title: 'Second',
    variables: {
      hosts: list('HOSTS', [], 'Where to go'),
      id: string('ID', '', 'Who it is', { defaultText: 'a random one' }),
    },
  },
}

test('the help shows names, defaults, meanings and aliases, wrapped', () => {
  assert.equal(
    toHelpText(chapters, { columns: 40, emphasize: (text) => `*${text}*` }),
    `First:
  *WAIT* = 1h30m
      How long to wait. (duration)
  *LEVEL* = low
      How much | how little. Also: LVL.
      (low, high)

Second:
  *HOSTS*
      Where to go. (list)
  *ID* = a random one
      Who it is. (string)
`,
  )
})

test('the manual gets a table per chapter', () => {
  assert.equal(
    toMarkdown(chapters),
    `### First

| variable | type | default | meaning |
|---|---|---|---|
| \`WAIT\` | duration | \`1h30m\` | How long to wait |
| \`LEVEL\`<br>\`LVL\` | low, high | \`low\` | How much \\| how little |

### Second

| variable | type | default | meaning |
|---|---|---|---|
| \`HOSTS\` | list | – | Where to go |
| \`ID\` | string | a random one | Who it is |
`,
  )
})
