/**
 * Lists the CID links and evidence references of a value by walking its schema.
 * Promises: every place that a contract declares as link or evidence, and no other, in schema order.
 * Does not promise: anything about values that the schema does not accept.
 */
import { z } from 'zod';
import type { Cid, Evidence, Link } from '../../store/format/cid.ts';
import { evidenceSchemas, type LinkKind, linkSchemas } from './kit.ts';

export interface ExpectedLink {
  readonly cid: Cid;
  readonly kinds: readonly LinkKind[];
}

export interface References {
  readonly links: readonly ExpectedLink[];
  readonly evidence: readonly Evidence[];
}

interface Found {
  links: ExpectedLink[];
  evidence: Evidence[];
}

/** The references of `value`, which `schema` has accepted. O(size of value). */
export function references(schema: z.ZodType, value: unknown): References {
  const found: Found = { links: [], evidence: [] };
  visit(schema, value, found);
  return found;
}

function visit(schema: z.ZodType, value: unknown, found: Found): void {
  if (value === undefined || value === null) return;
  const expected = linkSchemas.get(schema);
  if (expected !== undefined) found.links.push({ cid: (value as Link)['/'], kinds: expected.kinds });
  else if (evidenceSchemas.has(schema)) found.evidence.push(value as Evidence);
  else if (schema instanceof z.ZodObject) visitObject(schema, value as Record<string, unknown>, found);
  else if (schema instanceof z.ZodArray)
    for (const part of value as unknown[]) visit(schema.element as z.ZodType, part, found);
  else if (schema instanceof z.ZodRecord) visitMap(schema.valueType as z.ZodType, value as object, found);
  else if (schema instanceof z.ZodUnion) visitUnion(schema, value, found);
  else if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional)
    visit(schema.unwrap() as z.ZodType, value, found);
}

function visitObject(schema: z.ZodObject, value: Record<string, unknown>, found: Found): void {
  for (const [key, part] of Object.entries(schema.shape)) visit(part as z.ZodType, value[key], found);
}

function visitMap(schema: z.ZodType, value: object, found: Found): void {
  for (const part of Object.values(value)) visit(schema, part, found);
}

function visitUnion(schema: z.ZodUnion, value: unknown, found: Found): void {
  const option = (schema.options as readonly z.ZodType[]).find((each) => each.safeParse(value).success);
  if (option !== undefined) visit(option, value, found);
}
