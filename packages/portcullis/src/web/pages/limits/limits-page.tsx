import type { JSX } from 'preact'
import { PageHeader } from '../../components/page-header.tsx'
import { Empty } from '../../components/states.tsx'

export function LimitsPage(): JSX.Element {
  return (
    <>
      <PageHeader title="Limits" summary="Not built yet." />
      <Empty icon="limits" title="Nothing here yet" />
    </>
  )
}
