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
  /** The step is offered only if this part is available. */
  readonly needs: keyof ConsoleSession['parts']
}

const steps: readonly Step[] = [
  {
    href: '/users',
    icon: 'users',
    title: 'Create a user',
    text: 'Create an account or send an invitation, then inspect its sessions.',
    needs: 'auth',
  },
  {
    href: '/try',
    icon: 'try',
    title: 'Try it as a visitor',
    text: 'Sign up, confirm your email address, add a second factor.',
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
  /** The number of users, if known. */
  readonly users: number | undefined
}

/** Shows each step until it is done, or until the user hides them all. */
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
    // The focused button is gone.
    document.querySelector<HTMLElement>('#content')?.focus()
  }
  return (
    <section class="next-steps" aria-labelledby="next-steps">
      <div class="row">
        <h2 id="next-steps" class="grow">
          Next steps
        </h2>
        <Button kind="quiet" size="small" icon="close" onClick={dismiss}>
          Hide
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
