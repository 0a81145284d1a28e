import { doorNames, doors, partNames, toFlag } from './ports.ts'

const flagRows = doorNames.map((name) => {
  const { port, what } = doors[name]
  return [`--${toFlag(name)} PORT`, `of ${what} (${port})`] as const
})

const rows: readonly (readonly [option: string, meaning: string])[] = [
  ['--data DIR', 'where users, rules, messages and secrets are kept (.portcullis)'],
  ['--fresh', 'begin anew: remove what earlier starts kept there'],
  ['--only PARTS', `start only these, with commas: ${partNames.join(', ')}`],
  ['--no-console', 'start everything but the console'],
  ['--port-base N', 'take the ports from N on, in the order below; 0 takes free ones'],
  ...flagRows,
  ['--host ADDRESS', 'listen here, in place of this machine only (127.0.0.1)'],
  ['--public-url URL', 'scheme and name by which others reach this machine: for links in mails'],
  ['--allowed-host NAME', 'a name that browsers may call the console by; may be repeated'],
  ['--help', 'show this text'],
]

const width = Math.max(...rows.map(([option]) => option.length))
const lines = rows.map(([option, meaning]) => `  ${option.padEnd(width)}  ${meaning}`)

export const upUsage = `Usage: portcullis up [OPTION…]

Starts, in this terminal, an auth server on a PostgreSQL of its own, the rate limit service, a GraphQL
API that uses both, a catcher for mail and text messages, and a console in front of them. Nothing else
has to be installed or running. Ctrl-C stops everything; users and rules are there again next time.

Options:
${lines.join('\n')}

Variables of the environment that the servers know (portcullis auth up --help, portcullis ratelimit
serve --help) reach them, except where up has to decide. A file .env in the data folder does for auth.
`
