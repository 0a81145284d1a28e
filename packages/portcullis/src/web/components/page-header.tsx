import type { ComponentChildren, JSX } from 'preact'
import { useEffect } from 'preact/hooks'

export interface PageHeaderProps {
  readonly title: string
  readonly summary: ComponentChildren
  /** Actions that concern the whole page. */
  readonly children?: ComponentChildren
}

export function PageHeader({ title, summary, children }: PageHeaderProps): JSX.Element {
  useEffect(() => {
    document.title = `${title} · Portcullis`
  }, [title])
  return (
    <header class="page-header">
      <div>
        <h1>{title}</h1>
        <p>{summary}</p>
      </div>
      {children && <div class="row">{children}</div>}
    </header>
  )
}
