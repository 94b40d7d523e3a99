import { createHash } from 'node:crypto'
import {
  type Around,
  DomainError,
  answerOnce as doOnce,
  hasAnswer,
  invalid,
  type Ports,
  type RepeatableCall,
  type Seal,
  type Stores,
} from '@security-management/domain'
import type { Context } from './context.ts'
import type { Upload } from './route.ts'

/** An answer that is ready to be sent, and can be kept, to be given again byte for byte. */
export type Answer = { status: number; location?: string | undefined; etag?: string | undefined; text: string }

/** Makes what runs around the last unit of a use case whose result becomes an answer by `answerOf`. */
type AroundUpload = <Kept>(answerOf: (kept: Kept) => Promise<Answer>) => Around<Kept>

/** Runs a use case and makes its answer. */
export type Run = (given: { ports: Ports; upload?: Upload; around?: AroundUpload }) => Promise<Answer>

/** Asks again for the rights that the use case asks for. */
export type Permit = (ports: Ports) => Promise<void>

/** A request that may be sent again. */
export type Sent = {
  /** Belongs to the sender's secret and the key. */
  seal: Seal
  /** What was asked for beside the body. */
  parts: unknown[]
  /** The body, where it is no file. */
  text?: Uint8Array | undefined
  /** The body, where it is one. */
  upload?: Upload | undefined
}

const KEY = /^[\x20-\x7e]{1,255}$/

/**
 * The `Idempotency-Key` of a POST; undefined for none.
 *
 * @throws DomainError `invalid`: given twice, or not 1 to 255 printable ASCII characters.
 */
export function idempotencyKeyOf(ctx: Context): string | undefined {
  if (ctx.method !== 'POST') return undefined
  const [key, second] = ctx.req.headersDistinct['idempotency-key'] ?? []
  if (second !== undefined) throw invalid('Idempotency-Key', 'Given more than once')
  if (key !== undefined && !KEY.test(key))
    throw invalid('Idempotency-Key', 'Must be 1 to 255 printable ASCII characters')
  return key
}

/**
 * The answer to a request that may be sent again: the one that is kept for it, or the one that `run` makes now. It is
 * kept in the unit that makes the change (docs/adr/0006-answers-kept-with-the-change.md).
 *
 * @param permit asked before a kept answer is given, for which no use case is run.
 * @throws DomainError `invalid` when something else was sent with the same key; and what `run` or `permit` throws.
 */
export async function answerOnce(
  ports: Ports,
  { seal, parts, text, upload }: Sent,
  run: Run,
  permit: Permit,
): Promise<Answer> {
  if (!upload) return inOneUnit(ports, { seal, fingerprint: fingerprintOf(parts, text) }, run, permit)
  const hash = createHash('sha256')
  const { file_name, content_type } = upload
  const callOf = (): RepeatableCall => ({
    seal,
    fingerprint: fingerprintOf([...parts, file_name, content_type], hash.copy().digest()),
  })
  return inLastUnit(ports, callOf, { ...upload, content: hashed(upload.content, hash) }, run, permit)
}

/** SHA-256 of what makes two requests the same. */
function fingerprintOf(parts: unknown[], body: Uint8Array = new Uint8Array()): string {
  return createHash('sha256')
    .update(`${JSON.stringify(parts)}\n`)
    .update(body)
    .digest('hex')
}

/** All that the use case does is one unit. */
async function inOneUnit(ports: Ports, call: RepeatableCall, run: Run, permit: Permit): Promise<Answer> {
  const answer = await ports.transact(async (stores) => {
    const unit = within(ports, stores)
    let isNew = false
    const kept = await doOnce(ports, stores, call, async () => {
      isNew = true
      return keptOf(await run({ ports: unit }))
    })
    if (!isNew) await permit(unit)
    return kept
  })
  return answerIn(answer)
}

/** The ports on a unit that is open already: what asks for a unit gets this one. */
function within(ports: Ports, stores: Stores): Ports {
  return { ...ports, ...stores, transact: (work) => work(stores) }
}

/** The answer as it is kept: a line of JSON, then its text as it stands, which may be long. */
function keptOf({ text, ...head }: Answer): string {
  return `${JSON.stringify(head)}\n${text}`
}

function answerIn(kept: string): Answer {
  const end = kept.indexOf('\n')
  return { ...JSON.parse(kept.slice(0, end)), text: kept.slice(end + 1) }
}

async function* hashed(content: AsyncIterable<Uint8Array>, hash: ReturnType<typeof createHash>) {
  for await (const bytes of content) {
    hash.update(bytes)
    yield bytes
  }
}

/** Stops a use case whose upload turns out to have been kept by an earlier call. */
const ANSWERED_BEFORE = new Error('An earlier call has the answer')

/** The bytes of a file come in before any unit is open; the last unit of the use case keeps the answer as well. */
async function inLastUnit(
  ports: Ports,
  callOf: () => RepeatableCall,
  upload: Upload,
  run: Run,
  permit: Permit,
): Promise<Answer> {
  if (await hasAnswer(ports, callOf().seal)) {
    // There is nothing to store, only to compare.
    for await (const _ of upload.content);
    return earlierAnswer(ports, callOf(), permit)
  }
  const around: AroundUpload = (answerOf) => async (stores, work) => {
    let kept: Awaited<ReturnType<typeof work>> | undefined
    await doOnce(ports, stores, callOf(), async () => {
      kept = await work()
      return keptOf(await answerOf(kept))
    })
    if (kept === undefined) throw ANSWERED_BEFORE
    return kept
  }
  try {
    return await run({ ports, upload, around })
  } catch (error) {
    if (error === ANSWERED_BEFORE) return earlierAnswer(ports, callOf(), permit)
    throw error
  }
}

/** Claims the answer, as whoever would make it does: what is only read may be lost again, see `AnswerStore.claim`. */
function earlierAnswer(ports: Ports, call: RepeatableCall, permit: Permit): Promise<Answer> {
  return inOneUnit(ports, call, () => Promise.reject(new DomainError('unavailable')), permit)
}
