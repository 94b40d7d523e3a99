import type { Page, PageRequest } from '../page.ts'
import type { Control, Evidence, SecurityFramework } from './security-framework.ts'

/** Fields that security frameworks can be ordered by. */
export const SECURITY_FRAMEWORK_ORDER = ['id', 'title'] as const

/** A control whose evidence is asked for on a schedule. */
export type ScheduledControl = {
  organization: number
  framework: number
  title: string
  control: string
  /** Place of the control in its framework, from 0. */
  position: number
  frequency: string
  /** The last completed evidence, else the creation of the framework; ISO 8601. */
  since: string
  /** The due time that was told of last; null for none. */
  told: string | null
}

/** Where a control stands among all; framework 0 is before the first. */
export type ScheduledPlace = Pick<ScheduledControl, 'framework' | 'position'>

/** Security frameworks of active organizations. "Active" = not soft-removed; only `remove` ever returns a removed one. */
export type SecurityFrameworkStore = {
  /** Stores the record and returns its new id (integer >= 1). */
  insert(framework: Omit<SecurityFramework, 'id'> & { organization: number; created_at: string }): Promise<number>
  findActive(organization: number, id: number): Promise<SecurityFramework | undefined>
  /** One control of an active framework, without reading the others. */
  findControl(organization: number, id: number, control: string): Promise<Control | undefined>
  /** Bytes of all controls of the framework, each as JSON in UTF-8, without reading them. */
  controlsSize(id: number): Promise<number>
  isActive(organization: number, id: number): Promise<boolean>
  /** Active records of the organization. `total` counts all matches, not the page. */
  listActive(
    organization: number,
    page: PageRequest<(typeof SECURITY_FRAMEWORK_ORDER)[number]>,
  ): Promise<Page<SecurityFramework>>
  /** Takes the framework's lock until the transaction ends; false if there is no active one. */
  lock(organization: number, id: number): Promise<boolean>
  /** Replaces the title and all controls. */
  update(framework: SecurityFramework): Promise<void>
  /** Replaces the evidence of one control. */
  setEvidences(id: number, control: string, evidences: Evidence[]): Promise<void>
  /** Marks the record removed at `at` (ISO); false if absent or already removed. */
  remove(organization: number, id: number, at: string): Promise<boolean>
  /** Controls with a `frequency`, of all active frameworks, ordered by framework and position; those that follow `after`. */
  listScheduled(after: ScheduledPlace, limit: number): Promise<ScheduledControl[]>
  /** Notes that `due` was told of; false if that, or a later one, was before, so that of several at once one wins. */
  noteTold(framework: number, control: string, due: string): Promise<boolean>
}
