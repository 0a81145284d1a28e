import { type OptionRow, toHelpLines } from '../completion/option-table.ts'
import { listenerNames, listeners, partNames, toFlag } from './ports.ts'

interface UpOption extends OptionRow {
  /** What the error message asks for if the value is missing; flags have none. */
  readonly needs?: string
}

/** Every option of `up`. Its help text, its completion and its parser are derived from this table. */
export const upOptions: Readonly<Record<string, UpOption>> = {
  data: {
    value: 'DIR',
    meaning: 'folder for users, rules, messages and secrets; default: .portcullis',
    kind: 'directory',
    needs: 'a folder: --data DIR',
  },
  fresh: { meaning: 'start over: delete the data of earlier starts' },
  only: {
    value: 'PARTS',
    meaning: `start only these parts, separated by commas: ${partNames.join(', ')}`,
    kind: { list: partNames },
    needs: 'part names: --only auth,ratelimit',
  },
  'no-console': { meaning: 'start everything but the console' },
  'port-base': {
    value: 'N',
    meaning: 'use consecutive ports from N, in the order below; 0 picks free ports',
    needs: 'a port: --port-base 9000, or 0 for free ports',
  },
  ...Object.fromEntries(listenerNames.map((name) => [toFlag(name), toPortOption(name)])),
  host: {
    value: 'ADDRESS',
    meaning: 'address to listen on; default: 127.0.0.1 (this machine only)',
    needs: 'an address of this machine: --host 0.0.0.0',
  },
  'public-url': {
    value: 'URL',
    meaning: 'scheme and host name for printed addresses and links in emails',
    needs: 'a scheme and a name: --public-url https://gate.example.com',
  },
  'allowed-host': {
    value: 'NAME',
    meaning: 'host name under which browsers may open the console; repeatable',
    needs: 'a host name: --allowed-host gate.example.com',
  },
}

function toPortOption(name: (typeof listenerNames)[number]): UpOption {
  const { port, what } = listeners[name]
  return {
    value: 'PORT',
    meaning: `port of ${what}; default: ${port}`,
    needs: `a port: --${toFlag(name)} ${port + 1000}`,
  }
}

export const upUsage = `Usage: portcullis up [OPTION…]

Starts an auth server with an embedded PostgreSQL, the rate limit service, a
GraphQL API that uses both, a mailbox that catches emails and text messages, and
a console. Nothing else has to be installed or running. Press Ctrl-C to stop
everything; users and rules are kept for the next start.

Options:
${toHelpLines(upOptions)}

Environment variables of the servers are passed on, except for those that up
sets itself; portcullis auth up --help and portcullis ratelimit serve --help
list them. The auth server also reads a .env file in the data folder.

Exit codes: 0 after a shutdown by a signal, 1 if a part fails to start or ends
unexpectedly, 2 if nothing was started: for invalid arguments, a port in use or
a data folder that cannot be used.
`
