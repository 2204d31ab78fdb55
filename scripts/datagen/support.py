"""The trajectory of a support agent: one customer, several requests, records that are looked up and changed."""

import json

from .dice import pad
from .trace import Trace, tool
from .words import CITIES, FIRST, Names, coined

TOOLS = [
    tool("find_user", "Find a user by e-mail address, or by name and zip code.", email="string?: address", name="string?: first and last name",
         zip="string?: zip code"),
    tool("get_order_details", "The items, address, payments and status of an order.", order_id="string: id such as #W1234567"),
    tool("list_products", "Variants of a product with price and availability.", product_id="string: ten digits"),
    tool("search_flights", "Direct flights between two airports on a day.", origin="string: IATA code", destination="string: IATA code",
         date="string: YYYY-MM-DD"),
    tool("get_reservation", "A flight reservation with its segments and passengers.", reservation_id="string: six characters"),
    tool("update_reservation", "Change the flights of a reservation.", reservation_id="string: six characters", flights="array: flight numbers and dates",
         payment_id="string: the payment method"),
    tool("cancel_order", "Cancel a pending order.", order_id="string: the order", reason="string: no longer needed, or ordered by mistake"),
    tool("exchange_items", "Exchange delivered items for variants of the same product.", order_id="string: the order", item_ids="array: old items",
         new_item_ids="array: new items", payment_id="string: pays or receives the difference"),
    tool("return_items", "Return delivered items.", order_id="string: the order", item_ids="array: items", payment_id="string: receives the refund"),
    tool("update_address", "Change where a pending order is sent.", order_id="string: the order", address="object: the new address"),
    tool("track_shipment", "Scan events of a parcel.", tracking_id="string: twelve digits"),
    tool("calculate", "Evaluate an arithmetic expression.", expression="string: digits and + - * / ( )"),
    tool("export_case_log", "All events of a case as text.", case_id="string: the case"),
]
POLICY = (
    "Find out who the user is, by e-mail or by name and zip code, before you reveal anything.",
    "You help one user per conversation. Refuse what concerns other users.",
    "List what you are going to change and wait for a clear yes before you change it.",
    "All times are {0} and 24-hour.", "A pending order can be cancelled or get another address; a delivered one can be returned or exchanged.",
    "The only accepted reasons to cancel are 'no longer needed' and 'ordered by mistake'.",
    "An exchange stays within one product. The user names a payment method for the difference.",
    "A refund goes to the original payment method or to a gift card, within {1} business days.",
    "A gift card must hold the whole amount, it cannot be combined.", "Basic economy reservations cannot be changed, only cancelled within {2} hours.",
    "Members of the {3} tier get {4} free bags a passenger, others pay ${5} each.", "Compensation is at most ${6} and only for delays over {2} hours.",
    "Do not make up information, and give no opinion on products.", "If you cannot help within these rules, transfer the user to a person.",
    "Amounts are in US dollars with two decimals.", "Orders above ${7} need the delivery signature of an adult.",
    "Quote ids exactly as the tools return them.", "Parcels count as lost {1} business days after the last scan.",
)
PRODUCTS = "lamp kettle backpack jacket headphones keyboard tent bicycle blender watch speaker desk charger notebook vacuum mug skateboard camera".split()
OPTIONS = {"color": "black white red blue olive sand silver teal".split(), "size": "XS S M L XL one-size".split(),
           "material": "cotton steel bamboo leather nylon glass oak".split(), "edition": "2023 2024 2025 travel studio".split()}
AIRPORTS = "JFK LAX ORD SFO SEA BOS ATL DFW DEN MIA PHX IAH CLT EWR MSP".split()
SCANS = pad(["Arrived at facility {5} {7}", "Departed facility {5} {7} on truck {6}",
             "Held at {4} desk: {0} code {7}", "Out for delivery, stop {3} of {7}", "Delivery attempted, nobody home, notice {6}",
             "Sorted to lane {3} ({1})", "Address corrected by {2}, ticket {7}"])
THANKS = ("Great, thank you. ", "Perfect. ", "Okay, that works for me. ", "Yes, please go ahead. Also: ", "Thanks! One more thing. ", "Alright. ", "")


class Customer:
    """A person with an address, means of payment, and orders that keep what is done to them."""

    def __init__(self, dice):
        self.dice = dice
        self.first, self.last = dice.pick(FIRST), coined(dice, 1)[0].title()
        self.city, self.state, prefix = dice.pick(CITIES)
        self.zip = prefix + dice.digits(2)
        self.id = f"{self.first}_{self.last}_{dice.digits(4)}".lower()
        self.email = f"{self.first}.{self.last}{dice.n(1, 9999)}@example.com".lower()
        self.payments = [f"{kind}_{dice.digits(7)}" for kind in dice.some(["credit_card", "gift_card", "paypal"], 2)]
        self.home = self.new_address()
        self.orders = [f"#W{dice.digits(7)}" for _ in range(dice.n(2, 5))]
        self.trips = [dice.token(6).upper() for _ in range(dice.n(1, 3))]
        self.unseen = list(self.orders)
        self.seen, self.story, self.greeted = {}, {}, False

    def new_address(self):
        dice = self.dice
        return {"address1": f"{dice.n(1, 999)} {coined(dice, 1)[0].title()} {dice.pick(('Street', 'Avenue', 'Lane', 'Drive'))}",
                "address2": f"Suite {dice.n(1, 999)}", "city": self.city, "state": self.state, "zip": self.zip, "country": "USA"}

    def profile(self):
        return {"user_id": self.id, "name": {"first_name": self.first, "last_name": self.last}, "email": self.email, "address": self.home,
                "payment_methods": {p: {"source": p.rsplit("_", 1)[0], "id": p} for p in self.payments},
                "orders": self.orders, "reservations": self.trips}

    def order(self, status, room):
        """An order nobody has looked at yet: one of the profile, or one that the customer names."""
        order_id = self.unseen.pop() if self.unseen else f"#W{self.dice.digits(7)}"
        items = [item(self.dice) for _ in range(max(1, min(self.dice.n(1, 9), room // 350)))]
        total = round(sum(i["price"] for i in items), 2)
        tracking = self.dice.digits(12)
        order = {"order_id": order_id, "user_id": self.id, "status": status, "placed": self.dice.date(), "address": self.home, "items": items,
                 "fulfillments": [] if status == "pending" else [{"tracking_id": tracking, "item_ids": [i["item_id"] for i in items]}],
                 "payment_history": [{"transaction_type": "payment", "amount": total, "payment_method_id": self.dice.pick(self.payments)}]}
        self.seen[order_id] = order
        return order

    def opens(self):
        """How the customer starts the next request."""
        if self.greeted:
            return self.dice.pick(THANKS)
        self.greeted = True
        return ""


def options(dice):
    return {key: dice.pick(values) for key, values in dice.some(sorted(OPTIONS.items()), 2)}


def item(dice):
    return {"name": f"{coined(dice, 1)[0].title()} {dice.pick(PRODUCTS)}", "product_id": dice.digits(10),
            "item_id": dice.digits(10), "price": dice.money(8, 600), "options": options(dice)}


def variants(dice, product, count):
    rows = {}
    for _ in range(count):
        key = dice.digits(10)
        rows[key] = {"item_id": key, "options": options(dice), "available": dice.chance(0.7), "price": round(product["price"] * (0.8 + dice.random() * 0.5), 2),
                     "sku": f"{product['name'][:3].upper()}-{dice.hex(6)}"}
    return {"name": product["name"], "product_id": product["product_id"], "variants": rows}


def text_of(dice, value):
    """Tools return JSON; some indent it."""
    return json.dumps(value, ensure_ascii=False, indent=2 if dice.chance(0.05) else None)


def look_up(trace, dice, customer, order, room):
    """Gets an order, sometimes along with one that was seen before."""
    order_id = order["order_id"]
    calls = [("get_order_details", {"order_id": order_id}, text_of(dice, order))]
    if room > 6000 and len(customer.seen) > 1 and dice.chance(0.3):
        other = dice.pick([o for o in customer.seen if o != order_id])
        calls.append(("get_order_details", {"order_id": other}, text_of(dice, customer.seen[other])))
    think = f"The order {order_id} belongs to {customer.id} if the tool says so. I check before I promise anything."
    trace.step("", *calls, think=think if dice.chance(0.3) else "")


def exchange(trace, dice, customer, names, room):
    order = customer.order("delivered", room)
    old, payment = order["items"][0], customer.payments[0]
    trace.human(customer.opens() + f"I'd like to exchange the {old['name']} from order {order['order_id']}, {'it is too big' if dice.chance(0.5) else 'the wrong one came'}. I will pay with {payment}.")
    look_up(trace, dice, customer, order, room)
    catalogue = variants(dice, old, max(2, min(dice.size(9, 0.8, 2, 80), room // 160)))
    trace.step("", ("list_products", {"product_id": old["product_id"]}, text_of(dice, catalogue)))
    new = dice.pick(list(catalogue["variants"].values()))
    difference = round(new["price"] - old["price"], 2)
    trace.step("", ("calculate", {"expression": f"{new['price']} - {old['price']}"}, f"{difference:.2f}"))
    settled = f"${difference:.2f} more is paid with {payment}" if difference > 0 else f"${-difference:.2f} goes back to {payment}"
    trace.say(f"In order {order['order_id']} I can exchange item {old['item_id']} ({old['name']}, ${old['price']:.2f}) for {new['item_id']} "
              f"({', '.join(new['options'].values())}, ${new['price']:.2f}). {settled}. Shall I (yes/no)?")
    trace.human(dice.pick(("Yes.", "Yes, do it.", f"Yes, but only if it arrives before {dice.date(2026)}.", "yes please")))
    arguments = {"order_id": order["order_id"], "item_ids": [old["item_id"]], "new_item_ids": [new["item_id"]], "payment_id": payment}
    if difference > 0 and dice.chance(0.2):
        wrong = dict(arguments, payment_id=customer.payments[-1])
        trace.step("", ("exchange_items", wrong, f"Error: payment method {customer.payments[-1]} cannot cover ${difference:.2f}"))
    exchange_id = f"EX-{dice.hex(8)}"
    order["status"] = "exchange requested"
    trace.step("", ("exchange_items", arguments, text_of(dice, {"order_id": order["order_id"], "status": order["status"], "exchange_id": exchange_id, "price_difference": difference})))
    customer.story[order["order_id"]] = f"item {old['item_id']} is exchanged for {new['item_id']} ({exchange_id}), {settled}"
    trace.say(f"The exchange {exchange_id} for order {order['order_id']} is requested. Item {new['item_id']} ships when {old['item_id']} has come back. Anything else?")


def give_back(trace, dice, customer, names, room):
    order = customer.order("delivered", room)
    trace.human(customer.opens() + f"Can I return things from order {order['order_id']}? They came with a {dice.pick(('smell', 'scratch', 'dent', 'missing screw'))} and I don't want store credit.")
    look_up(trace, dice, customer, order, room)
    chosen = order["items"][: dice.n(1, min(4, len(order["items"])))]
    refund = round(sum(i["price"] for i in chosen), 2)
    if len(chosen) > 1:
        trace.step("", ("calculate", {"expression": " + ".join(str(i["price"]) for i in chosen)}, f"{refund:.2f}"))
    paid_by = order["payment_history"][0]["payment_method_id"]
    trace.say(f"You can return {', '.join(i['name'] for i in chosen)} of order {order['order_id']}. ${refund:.2f} goes back to {paid_by} in 5 to 7 business days. Confirm?")
    trace.human("Confirmed." if dice.chance(0.8) else f"Yes. The invoice number on my side is INV-{dice.digits(6)}, please keep it in mind.")
    label = f"RL{dice.digits(9)}"
    order["status"] = "return requested"
    trace.step("", ("return_items", {"order_id": order["order_id"], "item_ids": [i["item_id"] for i in chosen], "payment_id": paid_by},
                    text_of(dice, {"order_id": order["order_id"], "status": order["status"], "refund": refund, "return_label": label})))
    customer.story[order["order_id"]] = f"{len(chosen)} items go back with label {label}, ${refund:.2f} to {paid_by}"
    trace.say(f"Done: ${refund:.2f} will be refunded to {paid_by}. Use the return label {label}. What else can I do?")


def track(trace, dice, customer, names, room):
    order = customer.order("processed", room)
    tracking = order["fulfillments"][0]["tracking_id"]
    trace.human(customer.opens() + f"Where is my parcel from order {order['order_id']}? It should have been here days ago.")
    look_up(trace, dice, customer, order, room)
    count = max(3, min(dice.size(20, 0.9, 3, 200), room // 70))
    year, month = dice.n(2024, 2026), dice.n(1, 12)
    days = sorted(dice.n(1, 28) for _ in range(count))
    lines = [f"Label created, weight {dice.n(1, 40)} lb"] + dice.fill(SCANS, names, count - 1)
    events = [f"{year}-{month:02d}-{day:02d} {line}" for day, line in zip(days, lines)]
    trace.step("", ("track_shipment", {"tracking_id": tracking}, text_of(dice, {"tracking_id": tracking, "events": events})))
    customer.story[order["order_id"]] = f"parcel {tracking} was last scanned on {events[-1][:10]}"
    trace.say(f"Parcel {tracking} of order {order['order_id']} was last seen: {events[-1]}.")


def rebook(trace, dice, customer, names, room):
    trip = dice.pick(customer.trips)
    origin, destination = dice.some(AIRPORTS, 2)
    old_day, day = dice.date(2026), dice.date(2026)
    trace.human(customer.opens() + f"I need to move my trip {trip} from {origin} to {destination} to {day}, before noon, with at least {dice.n(1, 3)} bags.")
    line = coined(dice, 1)[0][:2].upper()

    def flight(day, last_hour):
        return {"flight_number": f"{line}{dice.digits(3)}", "origin": origin, "destination": destination, "date": day,
                "departs": f"{dice.n(5, last_hour):02d}:{dice.n(0, 11) * 5:02d}", "price": dice.n(79, 640), "seats": {"economy": dice.n(0, 30), "business": dice.n(0, 9)}}

    now, new = flight(old_day, 21), flight(day, 11)
    flights = [flight(day, 21) for _ in range(max(1, min(dice.size(7, 0.7, 2, 60), room // 180)))]
    flights.insert(dice.n(0, len(flights)), new)
    trace.step("", ("get_reservation", {"reservation_id": trip}, text_of(dice, {"reservation_id": trip, "user_id": customer.id, "flights": [now], "cabin": "economy",
               "passengers": [{"name": f"{customer.first} {customer.last}", "dob": dice.date(1985)}]})),
               ("search_flights", {"origin": origin, "destination": destination, "date": day}, text_of(dice, flights)))
    trace.say(f"{new['flight_number']} leaves {origin} at {new['departs']} on {day} for ${new['price']}; your {now['flight_number']} cost ${now['price']}. "
              f"The difference goes to {customer.payments[0]}. Shall I change {trip}?")
    trace.human("Yes, change it.")
    confirmation = dice.token(8).upper()
    trace.step("", ("update_reservation", {"reservation_id": trip, "flights": [{"flight_number": new["flight_number"], "date": day}], "payment_id": customer.payments[0]},
                    text_of(dice, {"reservation_id": trip, "confirmation": confirmation, "flights": [new]})))
    customer.story[trip] = f"moved to {new['flight_number']} on {day}, confirmation {confirmation}"
    trace.say(f"Your reservation {trip} is now on {new['flight_number']}, {day}, {new['departs']} (confirmation {confirmation}).")


def cancel(trace, dice, customer, names, room):
    reason = dice.pick(("no longer needed", "ordered by mistake"))
    order = customer.order("pending", room)
    trace.human(customer.opens() + f"Cancel order {order['order_id']}, please: {reason}. And tell me exactly how much I get back.")
    look_up(trace, dice, customer, order, room)
    amount = order["payment_history"][0]["amount"]
    trace.say(f"Order {order['order_id']} is pending, so I can cancel it. You get ${amount:.2f} back. Is that all right?")
    trace.human("Yes.")
    order["status"], case = "cancelled", f"CS-{dice.digits(6)}"
    trace.step("", ("cancel_order", {"order_id": order["order_id"], "reason": reason}, text_of(dice, {"order_id": order["order_id"], "status": "cancelled", "refund": amount, "case": case})))
    customer.story[order["order_id"]] = f"cancelled ({reason}), ${amount:.2f} refunded, case {case}"
    trace.say(f"Order {order['order_id']} is cancelled under case {case} and ${amount:.2f} is on its way.")


def redirect(trace, dice, customer, names, room):
    address = customer.new_address()
    order = customer.order("pending", room)
    trace.human(customer.opens() + f"Order {order['order_id']} is a gift. It must go to {address['address1']}, {address['address2']}, {address['city']} {address['zip']}, not to me.")
    look_up(trace, dice, customer, order, room)
    order["address"] = address
    trace.step("", ("update_address", {"order_id": order["order_id"], "address": address}, text_of(dice, {"order_id": order["order_id"], "address": address, "status": "pending"})))
    customer.story[order["order_id"]] = f"sent to {address['address1']}, {address['address2']}"
    trace.say(f"Order {order['order_id']} now goes to {address['address1']}, {address['city']}.")


REQUESTS = (exchange, exchange, give_back, track, rebook, cancel, redirect)


def trajectory(dice, record_id, target):
    """A support trajectory of about `target` characters."""
    names, customer = Names(dice), Customer(dice)
    company = coined(dice, 1)[0].title()
    numbers = [dice.pick(("EST", "UTC", "PST"))] + [dice.n(2, 9), dice.n(2, 30), dice.pick(("gold", "silver", "blue"))]
    numbers += [dice.n(1, 4), dice.n(20, 90), dice.n(50, 300), dice.n(100, 900)]
    rules = dice.some(POLICY, 4 if target < 8000 else dice.n(9, len(POLICY)))
    system = (f"You are the customer service agent of {company}. Follow this policy.\n\n# Policy\n\n"
              + "\n".join(f"{i}. {rule}" for i, rule in enumerate(rules, 1))).format(*numbers)
    trace = Trace(dice, record_id or f"support-{dice.hex(8)}", "support-desk", system, TOOLS)
    if dice.chance(0.4):
        trace.say(f"Hello, this is {company}. How can I help you?")
    by_mail = dice.chance(0.5)
    trace.human(f"Hi, I have {dice.pick(('a few things', 'several orders', 'some questions'))} to sort out. "
                + (f"My e-mail is {customer.email}." if by_mail else f"I am {customer.first} {customer.last}, zip {customer.zip}."))
    who = {"email": customer.email} if by_mail else {"name": f"{customer.first} {customer.last}", "zip": customer.zip}
    trace.step("", ("find_user", who, text_of(dice, customer.profile())))
    trace.say(f"Thank you, {customer.first}. I found your account {customer.id}. What shall we start with?")
    last = None
    while trace.size < target - 1800:
        request = dice.pick([r for r in REQUESTS if r is not last])
        request(trace, dice, customer, names, target - trace.size)
        last = request
    if customer.story and dice.chance(0.5):
        subject = dice.pick(sorted(customer.story))
        trace.human(f"That's all. Can you repeat what happened with {subject}?")
        trace.say(f"{subject}: {customer.story[subject]}. A copy goes to {customer.email}. Have a good day, {customer.first}.")
    else:
        trace.human("That's all, thanks.")
        trace.say(f"You're welcome, {customer.first}. A copy of everything goes to {customer.email}.")
    return trace
