import { type OptionRow, toHelpLines } from '../completion/option-table.ts'
import { doorNames, doors, partNames, toFlag } from './ports.ts'

interface UpOption extends OptionRow {
  /** What is missing where the value is; switches need none. */
  readonly needs?: string
}

/** Every option of `up`: its help text, its completion and its parser are made from this table. */
export const upOptions: Readonly<Record<string, UpOption>> = {
  data: {
    value: 'DIR',
    meaning: 'where users, rules, messages and secrets are kept (.portcullis)',
    kind: 'directory',
    needs: 'a folder: --data DIR',
  },
  fresh: { meaning: 'begin anew: remove what earlier starts kept there' },
  only: {
    value: 'PARTS',
    meaning: `start only these, with commas: ${partNames.join(', ')}`,
    kind: { list: partNames },
    needs: 'names of parts: --only auth,ratelimit',
  },
  'no-console': { meaning: 'start everything but the console' },
  'port-base': {
    value: 'N',
    meaning: 'take the ports from N on, in the order below; 0 takes free ones',
    needs: 'a port: --port-base 9000, or 0 for free ones',
  },
  ...Object.fromEntries(doorNames.map((name) => [toFlag(name), toPortOption(name)])),
  host: {
    value: 'ADDRESS',
    meaning: 'listen here, in place of this machine only (127.0.0.1)',
    needs: 'an address of this machine: --host 0.0.0.0',
  },
  'public-url': {
    value: 'URL',
    meaning: 'scheme and name by which others reach this machine: for links in mails',
    needs: 'a scheme and a name: --public-url https://gate.example.com',
  },
  'allowed-host': {
    value: 'NAME',
    meaning: 'a name that browsers may call the console by; may be repeated',
    needs: 'a name: --allowed-host gate.example.com',
  },
}

function toPortOption(name: (typeof doorNames)[number]): UpOption {
  const { port, what } = doors[name]
  return {
    value: 'PORT',
    meaning: `of ${what} (${port})`,
    needs: `a port: --${toFlag(name)} ${port + 1000}`,
  }
}

export const upUsage = `Usage: portcullis up [OPTION…]

Starts, in this terminal, an auth server on a PostgreSQL of its own, the rate limit service, a GraphQL
API that uses both, a catcher for mail and text messages, and a console in front of them. Nothing else
has to be installed or running. Ctrl-C stops everything; users and rules are there again next time.

Options:
${toHelpLines({ ...upOptions, help: { meaning: 'show this text' } })}

Variables of the environment that the servers know (portcullis auth up --help, portcullis ratelimit
serve --help) reach them, except where up has to decide. A file .env in the data folder does for auth.
`
