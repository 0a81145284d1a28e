import { Fragment, type JSX } from 'preact'
import type {
  DecisionsState,
  HealthState,
  PartName,
  WatchedPart,
} from '../../../console/routes/overview.ts'
import { Badge, type Tone } from '../../components/badge.tsx'
import { Icon, type IconName } from '../../components/icons.tsx'
import { formatTime } from '../../format.ts'
import { type ConsoleSession, useSession } from '../../session.ts'

interface PartPresentation {
  readonly name: string
  readonly icon: IconName
  /** The page about this part. */
  readonly href?: string
  readonly toAddress: (parts: ConsoleSession['parts']) => string | undefined
  /** The options or command that provide the part. */
  readonly flag: string
}

/** In the order of the cards. */
const presentations: Readonly<Record<PartName, PartPresentation>> = {
  auth: {
    name: 'Auth',
    icon: 'users',
    href: '/users',
    toAddress: ({ auth }) => auth?.url,
    flag: '--auth-url and --auth-key',
  },
  ratelimit: {
    name: 'Limits',
    icon: 'limits',
    href: '/limits',
    toAddress: ({ ratelimit }) => ratelimit?.url ?? ratelimit?.debugUrl,
    flag: '--ratelimit-debug-url',
  },
  graphql: {
    name: 'GraphQL',
    icon: 'graphql',
    href: '/graphql-audits',
    toAddress: ({ graphql }) => graphql?.url,
    flag: '--graphql-url',
  },
  mailbox: {
    name: 'Mailbox',
    icon: 'mailbox',
    href: '/mailbox',
    toAddress: ({ mailbox }) => mailbox && 'SMTP and SMS',
    flag: 'portcullis up',
  },
  console: {
    name: 'Console',
    icon: 'gate',
    toAddress: () => location.origin,
    flag: '',
  },
}

const names = Object.keys(presentations) as PartName[]

interface PartCardsProps {
  readonly health: HealthState | undefined
  readonly decisions: DecisionsState | undefined
}

export function PartCards({ health, decisions }: PartCardsProps): JSX.Element {
  const { parts } = useSession()
  return (
    <section aria-label="Health of all parts">
      <ul class="parts">
        {names.map((name) => {
          const found = health?.find(({ part }) => part === name)
          const isGiven = name === 'console' || parts[name] !== undefined
          // The start time of the rate limit service is part of its statistics, not of its health check.
          const startedAt = name === 'ratelimit' ? decisions?.startedAt : found?.startedAt
          return (
            <li key={name} class="card part">
              <PartHead name={name} isGiven={isGiven} found={found} />
              {isGiven ? (
                <PartBody
                  address={found?.address ?? presentations[name].toAddress(parts)}
                  found={found}
                  since={startedAt}
                />
              ) : (
                <p class="small muted">
                  Not configured. {name === 'mailbox' ? 'Run' : 'Start the console with'}{' '}
                  <code>{presentations[name].flag}</code>.
                </p>
              )}
            </li>
          )
        })}
      </ul>
    </section>
  )
}

interface PartHeadProps {
  readonly name: PartName
  readonly isGiven: boolean
  readonly found: WatchedPart | undefined
}

const states: Readonly<Record<WatchedPart['state'], { tone: Tone; text: string }>> = {
  up: { tone: 'ok', text: 'Up' },
  degraded: { tone: 'warn', text: 'Degraded' },
  down: { tone: 'danger', text: 'Down' },
}

function PartHead({ name, isGiven, found }: PartHeadProps): JSX.Element {
  const { name: title, icon, href } = presentations[name]
  const state = found && states[found.state]
  return (
    <div class="part-head">
      <Icon name={icon} />
      <h2 class="grow">{href === undefined ? title : <a href={href}>{title}</a>}</h2>
      <Badge tone={state?.tone} hasDot={isGiven}>
        {isGiven ? (state?.text ?? 'Checking…') : 'Not configured'}
      </Badge>
    </div>
  )
}

interface PartBodyProps {
  readonly address: string | undefined
  readonly found: WatchedPart | undefined
  readonly since: number | undefined
}

function PartBody({ address, found, since }: PartBodyProps): JSX.Element {
  const isWell = found?.state === 'up'
  // The uptime is reported by the server; the downtime is known only to the console.
  const start = isWell ? since : found?.since
  return (
    <>
      <p class="small muted part-address">
        {/* A narrow card breaks the line after the scheme and before the path, not inside the port. */}
        {address?.split(/(?<=\/\/)|(?<!\/)(?=\/\w)/).map((part, index) => (
          <Fragment key={part}>
            {index > 0 && <wbr />}
            {part}
          </Fragment>
        ))}
      </p>
      {found?.detail !== undefined && (
        <p class={isWell ? 'small muted' : 'small part-fault'}>{found.detail}</p>
      )}
      {found && (
        <dl class="part-facts small">
          {found.version !== undefined && (
            <Fact name="Version" value={found.version} title={found.product} />
          )}
          {found.latencyMs !== undefined && (
            <Fact name="Response time" value={formatLatency(found.latencyMs)} />
          )}
          {start !== undefined && (
            <Fact
              name={`${states[found.state].text} for`}
              value={formatSpan(Date.now() - start)}
              title={`Since ${formatTime(start)}`}
            />
          )}
        </dl>
      )}
    </>
  )
}

interface FactProps {
  readonly name: string
  readonly value: string
  readonly title?: string | undefined
}

function Fact({ name, value, title }: FactProps): JSX.Element {
  return (
    <div>
      <dt class="muted">{name}</dt>
      <dd class="number" title={title}>
        {value}
      </dd>
    </div>
  )
}

const units = [
  ['d', 86_400],
  ['h', 3_600],
  ['min', 60],
  ['s', 1],
] as const

/** Such as `2 h 5 min`: the two largest units. */
function formatSpan(milliseconds: number): string {
  let rest = Math.max(0, Math.floor(milliseconds / 1000))
  const words: string[] = []
  for (const [unit, seconds] of units) {
    const count = Math.floor(rest / seconds)
    rest -= count * seconds
    if (count > 0) words.push(joinUnit(count, unit))
  }
  return words.slice(0, 2).join(' ') || joinUnit(0, 's')
}

/** Such as `3 ms` or `1.2 s`. */
function formatLatency(milliseconds: number): string {
  if (milliseconds < 1) return `<\u00A0${joinUnit(1, 'ms')}`
  return milliseconds < 1000
    ? joinUnit(Math.round(milliseconds), 'ms')
    : joinUnit((milliseconds / 1000).toFixed(1), 's')
}

/** The space does not break, because a unit alone on the next line of a narrow card is hard to read. */
function joinUnit(value: number | string, unit: string): string {
  return `${value}\u00A0${unit}`
}
