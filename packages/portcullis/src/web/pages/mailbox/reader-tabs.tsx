import type { ComponentChildren, JSX, TargetedKeyboardEvent } from 'preact'
import { useId, useState } from 'preact/hooks'

export interface ReaderTab {
  readonly title: string
  readonly content: () => ComponentChildren
}

const steps: Readonly<Record<string, number>> = { ArrowLeft: -1, ArrowRight: 1 }

/** Views of one thing. The first is shown until another is chosen, which then stays, where there is one. */
export function ReaderTabs(props: { readonly tabs: readonly ReaderTab[] }): JSX.Element {
  const { tabs } = props
  const id = useId()
  const [chosen, setChosen] = useState('')
  const at = Math.max(
    tabs.findIndex(({ title }) => title === chosen),
    0,
  )
  const press = (event: TargetedKeyboardEvent<HTMLDivElement>) => {
    const next = (at + (steps[event.key] ?? 0) + tabs.length) % tabs.length
    if (next === at) return
    setChosen(tabs[next]?.title ?? '')
    const buttons = event.currentTarget.querySelectorAll('button')
    buttons[next]?.focus()
  }
  return (
    <div class="reader-tabs">
      <div class="row tight" role="tablist" aria-label="Views of the message" onKeyDown={press}>
        {tabs.map(({ title }, index) => (
          <button
            key={title}
            id={`${id}-${index}`}
            type="button"
            role="tab"
            class="reader-tab"
            aria-selected={index === at}
            aria-controls={`${id}-panel`}
            tabIndex={index === at ? 0 : -1}
            onClick={() => setChosen(title)}
          >
            {title}
          </button>
        ))}
      </div>
      <div id={`${id}-panel`} class="panel" role="tabpanel" aria-labelledby={`${id}-${at}`}>
        {tabs[at]?.content()}
      </div>
    </div>
  )
}
