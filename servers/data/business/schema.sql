-- Lantern Cycles, a small maker of e-bikes: 20 tables. The rows are in the CSV files beside this.
-- The comment on the first line of each table is what list_tables tells about it.

CREATE TABLE employees ( -- who works here, in which team, and who leads them
  employee_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  team TEXT NOT NULL,
  email TEXT NOT NULL UNIQUE,
  office TEXT NOT NULL,
  manager_id INTEGER REFERENCES employees (employee_id),
  hired_on TEXT NOT NULL,
  left_on TEXT
);

CREATE TABLE customers ( -- shops and fleets that buy from us, with plan and credit limit
  customer_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('shop', 'fleet', 'online')),
  plan TEXT NOT NULL CHECK (plan IN ('basic', 'priority')),
  country TEXT NOT NULL,
  credit_limit_eur INTEGER NOT NULL,
  account_manager_id INTEGER REFERENCES employees (employee_id),
  customer_since TEXT NOT NULL,
  remark TEXT
);

CREATE TABLE customer_contacts ( -- people at the customers, with language and phone
  contact_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  name TEXT NOT NULL,
  job TEXT,
  email TEXT NOT NULL,
  phone TEXT,
  language TEXT NOT NULL
);

CREATE TABLE addresses ( -- where customers want deliveries and invoices
  address_id INTEGER PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  used_for TEXT NOT NULL CHECK (used_for IN ('delivery', 'invoice')),
  street TEXT NOT NULL,
  city TEXT NOT NULL,
  postcode TEXT,
  country TEXT NOT NULL,
  opening_hours TEXT
);

CREATE TABLE product_categories ( -- the tree of product categories
  category_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  中文名 TEXT,
  parent_id INTEGER REFERENCES product_categories (category_id)
);

CREATE TABLE products ( -- bikes and parts we make or resell, with weight and status
  sku TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  中文名 TEXT,
  category_id INTEGER NOT NULL REFERENCES product_categories (category_id),
  unit TEXT NOT NULL,
  weight_kg REAL,
  status TEXT NOT NULL CHECK (status IN ('active', 'phasing out', 'ended')),
  warranty_months INTEGER NOT NULL,
  launched_on TEXT NOT NULL
);

CREATE TABLE price_lists ( -- price of a product from a date on, for each plan
  sku TEXT NOT NULL REFERENCES products (sku),
  plan TEXT NOT NULL,
  valid_from TEXT NOT NULL,
  price_eur REAL NOT NULL,
  approved_by INTEGER REFERENCES employees (employee_id),
  PRIMARY KEY (sku, plan, valid_from)
);

CREATE TABLE warehouses ( -- our warehouses and who runs them
  warehouse_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  city TEXT NOT NULL,
  country TEXT NOT NULL,
  manager_id INTEGER REFERENCES employees (employee_id),
  open_days TEXT NOT NULL
);

CREATE TABLE stock ( -- pieces on hand and reserved, for each product and warehouse
  warehouse_id INTEGER NOT NULL REFERENCES warehouses (warehouse_id),
  sku TEXT NOT NULL REFERENCES products (sku),
  on_hand INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  reorder_below INTEGER NOT NULL,
  counted_on TEXT NOT NULL,
  PRIMARY KEY (warehouse_id, sku)
);

CREATE TABLE suppliers ( -- who we buy parts from, with lead time
  supplier_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  中文名 TEXT,
  city TEXT NOT NULL,
  country TEXT NOT NULL,
  lead_days INTEGER NOT NULL,
  rating REAL,
  备注 TEXT
);

CREATE TABLE purchase_orders ( -- our orders to suppliers, with expected and actual arrival
  po_no TEXT PRIMARY KEY,
  supplier_id INTEGER NOT NULL REFERENCES suppliers (supplier_id),
  ordered_on TEXT NOT NULL,
  expected_on TEXT NOT NULL,
  arrived_on TEXT,
  status TEXT NOT NULL,
  buyer_id INTEGER REFERENCES employees (employee_id),
  note TEXT
);

CREATE TABLE purchase_order_lines ( -- what each purchase order is for
  po_no TEXT NOT NULL REFERENCES purchase_orders (po_no),
  line INTEGER NOT NULL,
  sku TEXT NOT NULL REFERENCES products (sku),
  quantity INTEGER NOT NULL,
  unit_cost_eur REAL NOT NULL,
  received INTEGER NOT NULL,
  PRIMARY KEY (po_no, line)
);

CREATE TABLE sales_orders ( -- customers' orders and their state
  order_no TEXT PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  ordered_on TEXT NOT NULL,
  wanted_by TEXT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('open', 'on hold', 'shipped', 'cancelled')),
  delivery_address_id INTEGER REFERENCES addresses (address_id),
  sold_by INTEGER REFERENCES employees (employee_id),
  remark TEXT
);

CREATE TABLE sales_order_lines ( -- what each sales order is for
  order_no TEXT NOT NULL REFERENCES sales_orders (order_no),
  line INTEGER NOT NULL,
  sku TEXT NOT NULL REFERENCES products (sku),
  quantity INTEGER NOT NULL,
  price_eur REAL NOT NULL,
  PRIMARY KEY (order_no, line)
);

CREATE TABLE order_holds ( -- why a sales order was put on hold, and when it was released
  hold_id INTEGER PRIMARY KEY,
  order_no TEXT NOT NULL REFERENCES sales_orders (order_no),
  reason TEXT NOT NULL,
  placed_on TEXT NOT NULL,
  placed_by INTEGER REFERENCES employees (employee_id),
  released_on TEXT
);

CREATE TABLE shipments ( -- parcels and pallets on their way, with carrier and tracking number
  shipment_id INTEGER PRIMARY KEY,
  order_no TEXT NOT NULL REFERENCES sales_orders (order_no),
  warehouse_id INTEGER NOT NULL REFERENCES warehouses (warehouse_id),
  carrier TEXT NOT NULL,
  tracking_no INTEGER NOT NULL,
  sent_on TEXT NOT NULL,
  delivered_on TEXT,
  remark TEXT
);

CREATE TABLE invoices ( -- what we billed, when it is due, when it was paid
  invoice_no TEXT PRIMARY KEY,
  order_no TEXT NOT NULL REFERENCES sales_orders (order_no),
  issued_on TEXT NOT NULL,
  due_on TEXT NOT NULL,
  amount_eur REAL NOT NULL,
  paid_on TEXT,
  reminder_level INTEGER NOT NULL
);

CREATE TABLE payments ( -- money that came in, and the invoice it pays
  payment_id INTEGER PRIMARY KEY,
  invoice_no TEXT NOT NULL REFERENCES invoices (invoice_no),
  received_on TEXT NOT NULL,
  amount_eur REAL NOT NULL,
  method TEXT NOT NULL,
  bank_reference TEXT
);

CREATE TABLE returns ( -- goods sent back, why, and what became of them
  return_no TEXT PRIMARY KEY,
  order_no TEXT NOT NULL REFERENCES sales_orders (order_no),
  sku TEXT NOT NULL REFERENCES products (sku),
  quantity INTEGER NOT NULL,
  reason TEXT NOT NULL,
  received_on TEXT,
  outcome TEXT
);

CREATE TABLE support_tickets ( -- what customers asked support, in their language
  ticket_no TEXT PRIMARY KEY,
  customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
  order_no TEXT REFERENCES sales_orders (order_no),
  opened_on TEXT NOT NULL,
  closed_on TEXT,
  priority TEXT NOT NULL CHECK (priority IN ('low', 'normal', 'high')),
  subject TEXT NOT NULL,
  answer TEXT,
  agent_id INTEGER REFERENCES employees (employee_id)
);
