import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'

export function TryPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Try" summary="Not built yet." />
      <Empty icon="try" title="Nothing here yet" />
    </>
  )
}
