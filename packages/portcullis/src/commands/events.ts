import { toArgumentError } from '@portcullis/service-kit/cli/argument-faults'
import { type CommandIo, usesColor } from '@portcullis/service-kit/cli/command'
import { toMessage } from '@portcullis/service-kit/text/reason'
import type { CompletableCommand } from '../completion/command-tree.ts'
import { toCommandOptions, toHelpLines } from '../completion/option-table.ts'
import { followEvents } from '../console/events/follow-events.ts'
import { type AuditEvent, type EventPage, readEvents } from '../console/events/read-events.ts'
import type { AuthTarget } from '../console/settings.ts'
import { UpRefusal } from '../up/errors.ts'
import { findRunningAuth } from '../up/running-auth.ts'
import {
  newestCount,
  parseTailArguments,
  type TailArguments,
  tailOptions,
} from './events-arguments.ts'
import { toEventJson, toEventLine } from './events-output.ts'
import { findDataFolder, folderAdvice } from './find-data-folder.ts'

const usage = `Usage: portcullis events tail [OPTION…]

Prints the events of the auth server that the console shows on its page Events:
sign-ins, failed sign-ins with their reason, and changes to accounts. Then it
prints new events until you press Ctrl-C.

Options:
${toHelpLines(tailOptions)}

Without --auth-url, the command reads the events of the portcullis up that uses
the data folder. If a failed sign-in is repeated, its event is printed again
with the number of attempts.

Exit codes: 0 after a shutdown by a signal or with --no-follow, 1 on failure,
2 for invalid arguments.
`

const summary = 'print sign-ins, failures and other events as they happen'

export const eventsCommand: CompletableCommand = {
  summary,
  usage,
  completion: { commands: { tail: { summary, options: toCommandOptions(tailOptions) } } },
  async run(args, io) {
    const parsed = parseTailArguments(args, io.env)
    if ('faults' in parsed) {
      io.stderr.write(toArgumentError('portcullis events', ...parsed.faults))
      return 2
    }
    try {
      return await tail(parsed, io)
    } catch (error) {
      io.stderr.write(`${toMessage(error)}\n`)
      return 1
    }
  },
}

const pageSize = 1_000
/** Events since a time are collected before they are printed oldest first; this limits their number. */
const mostCollected = 10_000
/** Each read covers up to 10,000 entries of the log, in which a search may find nothing. */
const mostReads = 100
/** How many printed events are remembered: an entry is read again when the user it names is deleted. */
const mostRemembered = 5_000

async function tail(settings: TailArguments, io: CommandIo): Promise<number> {
  const { search, isFollowing, isJson } = settings
  const auth = findServer(settings)
  // Installed first, so that a signal during the first request ends the command normally.
  const stopping = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => stopping.abort())
  }
  const hasColor = usesColor(io)
  const printed = new Set<string>()
  const print = (events: readonly AuditEvent[]) => {
    for (const event of events) {
      const { id, payload } = event.entry
      const key = `${id} ${payload.traits?.['count'] ?? ''}`
      if (printed.has(key)) continue
      printed.add(key)
      io.stdout.write(`${isJson ? toEventJson(event) : toEventLine(event, hasColor)}\n`)
    }
    for (const key of printed) {
      if (printed.size <= mostRemembered) break
      printed.delete(key)
    }
  }
  const read = (more: Readonly<Record<string, string>>) =>
    readEvents(auth, { ...search, ...more }, stopping.signal)

  const stored = await collect(read, settings, io).catch((error: unknown) => {
    if (stopping.signal.aborted) return undefined
    throw error
  })
  if (stored === undefined) return 0
  print(stored.events)
  if (!isFollowing) return 0
  let fault = ''
  await followEvents({
    read: (after) => read({ after, limit: `${pageSize}` }),
    size: pageSize,
    after: stored.latest,
    signal: stopping.signal,
    onEvents({ events }) {
      fault = ''
      print(events)
      return true
    },
    onFault(message) {
      if (message !== fault) io.stderr.write(`${message}\nTrying again until you press Ctrl-C.\n`)
      fault = message
    },
  })
  return 0
}

/** @throws {Error} if no auth server is known. */
function findServer({ server, data }: TailArguments): AuthTarget {
  if (server) return { url: server.url, key: async () => server.key }
  let running: AuthTarget | undefined
  try {
    const folder = findDataFolder(data)
    running = folder && findRunningAuth(folder)
  } catch (error) {
    if (!(error instanceof UpRefusal)) throw error
    throw new Error(error.message, { cause: error })
  }
  if (running) return running
  throw new Error(
    `No running auth server was found. ${folderAdvice} For another server, pass --auth-url URL.`,
  )
}

/** Returns the stored events, oldest first. */
async function collect(
  read: (more: Readonly<Record<string, string>>) => Promise<EventPage>,
  { hasStart }: TailArguments,
  io: CommandIo,
): Promise<Pick<EventPage, 'events' | 'latest'>> {
  const wanted = hasStart ? mostCollected : newestCount
  const events: AuditEvent[] = []
  const first = await read({ limit: `${Math.min(wanted, pageSize)}` })
  let page = first
  events.push(...page.events)
  for (let reads = 1; page.next !== null && events.length < wanted; reads += 1) {
    if (reads === mostReads) {
      io.stderr.write(
        'The log has too many entries, so the oldest ones were not searched. Searches with --user, --address or --action read fewer entries.\n',
      )
      break
    }
    const limit = Math.min(wanted - events.length, pageSize)
    page = await read({ before: page.next, limit: `${limit}` })
    events.push(...page.events)
  }
  if (hasStart && events.length >= wanted && page.next !== null) {
    io.stderr.write(
      `Only the newest ${mostCollected} events are printed. Choose a later --since.\n`,
    )
  }
  return { events: events.reverse(), latest: first.latest }
}
