import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button } from '../../components/button.tsx'
import { Icon, type IconName } from '../../components/icons.tsx'
import { type ConsoleSession, type FirstStep, readDoneSteps, useSession } from '../../session.ts'

interface Step {
  readonly href: FirstStep
  readonly icon: IconName
  readonly title: string
  readonly text: string
  /** Without it the step leads nowhere. */
  readonly needs: keyof ConsoleSession['parts']
}

const steps: readonly Step[] = [
  {
    href: '/users',
    icon: 'users',
    title: 'Create a user',
    text: 'By hand or by invitation; then look at their sessions.',
    needs: 'auth',
  },
  {
    href: '/try',
    icon: 'try',
    title: 'Try it as a visitor',
    text: 'Sign up, confirm the address, add a second factor.',
    needs: 'auth',
  },
  {
    href: '/limits',
    icon: 'limits',
    title: 'Change a limit',
    text: 'Edit a rule, send requests, watch its counters.',
    needs: 'ratelimit',
  },
]

const storageKey = 'portcullis-steps-seen'

export interface NextStepsProps {
  /** How many there are, where known. */
  readonly users: number | undefined
}

/** For the first visit: each step until it is done, and all of them until they are hidden. */
export function NextSteps({ users = 0 }: NextStepsProps): JSX.Element | null {
  const { parts } = useSession()
  const [done] = useState(readDoneSteps)
  const [isSeen, setSeen] = useState(() => localStorage.getItem(storageKey) !== null)
  const offered = steps.filter(({ href, needs }) => {
    const isDone = done.includes(href) || (href === '/users' && users > 0)
    return parts[needs] !== undefined && !isDone
  })
  if (isSeen || offered.length === 0) return null
  const dismiss = () => {
    localStorage.setItem(storageKey, '1')
    setSeen(true)
    // The button that had the focus is gone.
    document.querySelector<HTMLElement>('#content')?.focus()
  }
  return (
    <section class="next-steps" aria-labelledby="next-steps">
      <div class="row">
        <h2 id="next-steps" class="grow">
          What to do next
        </h2>
        <Button kind="quiet" size="small" icon="close" onClick={dismiss}>
          Hide these
        </Button>
      </div>
      <ol class="grid">
        {offered.map(({ href, icon, title, text }) => (
          <li key={href}>
            <a class="card step" href={href}>
              <Icon name={icon} />
              <span>
                <strong>{title}</strong>
                <span class="small muted">{text}</span>
              </span>
              <Icon name="chevron" />
            </a>
          </li>
        ))}
      </ol>
    </section>
  )
}
